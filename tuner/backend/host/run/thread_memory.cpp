#include <tuner/backend/host/run/thread_memory.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include <tuner/backend/host/run/sanitizer.hpp>
#include <tuner/error.hpp>

namespace tuner::host {
namespace {

// Each guard page splits a mapping, and a process may have 65530 mappings (vm.max_map_count). On a machine with many
// cores, guards for all stacks would use up all of them.
constexpr std::size_t kMostGuards = 8192;
std::atomic<std::size_t> guards_in_use{0};

constexpr unsigned char kCanary = 0xd7;
/// Reserved after the shared memory, so that an index that is far too large reaches no other memory.
constexpr std::size_t kBeyond = std::size_t{64} << 20;

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}
std::size_t up_to_page(std::size_t bytes) { return (bytes + page() - 1) / page() * page(); }

}  // namespace

Mapping::Mapping(std::size_t bytes, int protection, const char* purpose) : bytes_(bytes) {
  // MAP_STACK: without huge pages, which would take memory for stacks that are hardly used.
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* const base = ::mmap(nullptr, bytes, protection, kFlags, -1, 0);
  if (base == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory, "host backend: cannot reserve " + std::to_string(bytes >> 20) + " MiB for " +
                                              purpose + ": " + std::strerror(errno));
  begin_ = static_cast<char*>(base);
}

Mapping::~Mapping() { ::munmap(begin_, bytes_); }

// ---------------------------------------------------------------- stacks

StackPool::StackPool(std::size_t count, std::size_t bytes)
    : slot_(up_to_page(bytes) + page()),
      memory_(slot_ * count, PROT_READ | PROT_WRITE, "the stacks of kernel threads") {
  while (guards_ < count && guards_in_use.fetch_add(1) < kMostGuards &&
         mprotect(memory_.begin() + guards_ * slot_, page(), PROT_NONE) == 0) {
    ++guards_;
  }
  if (guards_ < count) guards_in_use.fetch_sub(1);
}

StackPool::~StackPool() { guards_in_use.fetch_sub(guards_); }

StackPool::Stack StackPool::stack(std::size_t index) const {
  char* slot = memory_.begin() + index * slot_;
  const std::size_t stagger = (index * 448) % page();
  return {slot + page(), slot + slot_ - stagger / 64 * 64};
}

bool StackPool::in_guard(const void* address) const {
  const char* at = static_cast<const char*>(address);
  if (at < begin() || at >= begin() + guards_ * slot_) return false;
  return static_cast<std::size_t>(at - begin()) % slot_ < page();
}

// ---------------------------------------------------------------- shared memory

SharedArena::SharedArena(std::size_t most)
    : most_(up_to_page(most)), memory_(most_ + kBeyond, PROT_NONE, "the shared memory of blocks") {}

SharedArena::~SharedArena() { sanitizer::unpoison(begin(), most_); }

void SharedArena::resize(std::size_t bytes) {
  const std::size_t open = std::min(up_to_page(bytes), most_);
  if (open != open_) {
    const bool more = open > open_;
    char* const from = memory_.begin() + std::min(open, open_);
    if (::mprotect(from, std::max(open, open_) - std::min(open, open_), more ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
      throw Error(ErrorCode::out_of_memory,
                  std::string("host backend: no room for the shared memory of blocks: ") + std::strerror(errno));
    open_ = open;
  }
  bytes_ = bytes;
  char* const canaries = memory_.begin() + bytes_;
  sanitizer::unpoison(begin(), open_);
  std::memset(canaries, kCanary, open_ - bytes_);
  sanitizer::poison(canaries, open_ - bytes_);
}

bool SharedArena::restore_canaries() {
  const std::size_t count = open_ - bytes_;
  if (sanitizer::kActive || count == 0) return true;  // a sanitizer sees each access
  char* const canaries = memory_.begin() + bytes_;
  if (static_cast<unsigned char>(*canaries) == kCanary && std::memcmp(canaries, canaries + 1, count - 1) == 0)
    return true;
  std::memset(canaries, kCanary, count);
  return false;
}

bool SharedArena::is_beyond(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  return at >= memory_.begin() + open_ && at < memory_.begin() + memory_.bytes();
}

}  // namespace tuner::host
