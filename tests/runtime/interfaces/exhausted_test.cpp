// Calls of the library while no memory can be allocated. This program replaces operator new.

#include <cstdlib>
#include <new>

#include <unistd.h>

#include <tuner/tuner.hpp>

#include <tests/support/child_process.hpp>

#include <tests/runtime/kernels.hpp>
#include <tests/runtime/serving_environment.hpp>

namespace {

/// Of this thread, which calls the library.
thread_local bool counts = false;
thread_local long left = 0;

void* allocated(std::size_t bytes) {
  if (counts && left-- <= 0) return nullptr;
  return std::malloc(bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const memory = allocated(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocated(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tuner {
namespace {

class Exhausted : public testing::ServingEnvironment {
 protected:
  Exhausted() : ServingEnvironment("host", "never") {}

  /// Whether \p call, in a process of its own whose memory ends after \p count allocations, succeeds or throws the
  /// Error for that.
  static bool ends_well(long count, const std::function<void()>& call) {
    return testing::wait_for(testing::start_child([&] {
             ::alarm(1200);  // a call that waits for ever fails too
             left = count;
             counts = true;
             try {
               call();
               counts = false;
             } catch (const Error& error) {
               counts = false;
               return error.code() == ErrorCode::out_of_memory;
             }
             return true;
           })) == 0;
  }
};

/// Not tune(): the destructor of nlohmann::json takes memory, and ends the process where there is none.
TEST_F(Exhausted, MemoryIsAnErrorOfACallWhereverItEnds) {
  const Kernel kernel = testing::kernel_named("scale", testing::kScale);
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"from_file", [] { (void)Kernel::from_file("reduce"); }},
      {"explain", [&] { (void)kernel.explain({1000}); }},
  };
  for (const auto& [name, call] : calls)
    for (long count = 0; count < 3000; count = count * 5 / 4 + 7)
      EXPECT_TRUE(ends_well(count, call)) << name << " after " << count << " allocations";
}

}  // namespace
}  // namespace tuner
