#pragma once
/// Tells AddressSanitizer and ThreadSanitizer about fibers, if tuner is built with them; otherwise does nothing.
/// compiler-rt: sanitizer/common_interface_defs.h, sanitizer/tsan_interface.h.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TUNER_HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TUNER_HOST_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TUNER_HOST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TUNER_HOST_TSAN 1
#endif
#endif

#if defined(TUNER_HOST_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TUNER_HOST_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace tuner::host::sanitizer {

#if defined(TUNER_HOST_ASAN) || defined(TUNER_HOST_TSAN)
inline constexpr bool kActive = true;
#else
inline constexpr bool kActive = false;
#endif

/// A sanitizer's data about one fiber, or about the operating-system thread's own stack.
struct FiberState {
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* tsan = nullptr;
};

inline void create([[maybe_unused]] FiberState& fiber) {
#if defined(TUNER_HOST_TSAN)
  if (fiber.tsan == nullptr) fiber.tsan = __tsan_create_fiber(0);
#endif
}
inline void destroy([[maybe_unused]] FiberState& fiber) {
#if defined(TUNER_HOST_TSAN)
  if (fiber.tsan != nullptr) __tsan_destroy_fiber(fiber.tsan);
#endif
}
inline void adopt_thread([[maybe_unused]] FiberState& fiber) {
#if defined(TUNER_HOST_TSAN)
  fiber.tsan = __tsan_get_current_fiber();
#endif
}
/// \p from will run again only if \p returns. Always inlined, because ThreadSanitizer would count this function's entry
/// on one fiber and its exit on the other.
[[gnu::always_inline]] inline void before_switch([[maybe_unused]] FiberState& from,
                                                 [[maybe_unused]] const FiberState& to, [[maybe_unused]] bool returns) {
#if defined(TUNER_HOST_ASAN)
  __sanitizer_start_switch_fiber(returns ? &from.fake_stack : nullptr, to.bottom, to.bytes);
#endif
#if defined(TUNER_HOST_TSAN)
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
}
/// Call this first after a switch from \p from to \p self.
inline void after_switch([[maybe_unused]] FiberState& self, [[maybe_unused]] FiberState& from) {
#if defined(TUNER_HOST_ASAN)
  __sanitizer_finish_switch_fiber(self.fake_stack, &from.bottom, &from.bytes);
#endif
}
inline void unpoison([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t bytes) {
#if defined(TUNER_HOST_ASAN)
  __asan_unpoison_memory_region(address, bytes);
#endif
}
inline void poison([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t bytes) {
#if defined(TUNER_HOST_ASAN)
  __asan_poison_memory_region(address, bytes);
#endif
}

}  // namespace tuner::host::sanitizer
