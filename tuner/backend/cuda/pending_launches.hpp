#pragma once
/// The number of launches from the device that may wait, a limit of the context. Private to this folder.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/context.hpp>

namespace tuner::cuda {

/// The context of \p state, which must outlive this, is current in each call.
class PendingLaunches {
 public:
  explicit PendingLaunches(BackendState& state) : state_(state) {}

  /// Makes the limit at least \p pending from now on. Thread-safe. Throws Error.
  void allow(std::int64_t pending) {
    const std::lock_guard lock(mutex_);
    const std::int64_t before = for_good();
    // Never lowers the limit here: a run on another thread may need it.
    if (const std::optional<std::string> why = make_room(std::max(pending, now())))
      throw Error(ErrorCode::out_of_memory, *why);
    for_good_ = std::max(before, pending);
  }

  /// Sets the limit for \p launches, which run next; undoes what an earlier run needed. One run at a time.
  std::optional<LaunchError> make_room_for(std::span<const Launch> launches) {
    std::int64_t pending = 0;
    for (const Launch& launch : launches) pending = std::max(pending, launch.device_launches);
    if (pending == 0 && !room_of_a_run_) return std::nullopt;
    const std::lock_guard lock(mutex_);
    room_of_a_run_ = pending > 0;
    if (std::optional<std::string> why = make_room(pending)) return LaunchError{std::move(*why)};
    return std::nullopt;
  }

 private:
  std::int64_t now() {
    std::size_t limit = 0;
    state_.watch(driver().cuCtxGetLimit(&limit, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT), "cuCtxGetLimit");
    return static_cast<std::int64_t>(limit);
  }
  /// The limit never becomes lower than this: at first the context's limit, which the program may have chosen.
  std::int64_t for_good() {
    if (!for_good_) for_good_ = now();
    return *for_good_;
  }
  /// Sets the limit for \p pending launches. Returns the reason if it is too high.
  std::optional<std::string> make_room(std::int64_t pending) {
    const std::int64_t wanted = std::max(pending, for_good()), there = now();
    if (wanted == there) return std::nullopt;
    const CUresult result =
        driver().cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, static_cast<std::size_t>(wanted));
    if (is_sticky(result)) state_.usable = false;
    if (result == CUDA_SUCCESS || wanted < there) return std::nullopt;
    return state_.device.name + " has no room for " + std::to_string(wanted) +
           " pending launches from the device: " + error_text(result);
  }

  BackendState& state_;
  std::mutex mutex_;  // protects the limit
  std::optional<std::int64_t> for_good_;
  bool room_of_a_run_ = false;  // the limit may be above for_good_
};

}  // namespace tuner::cuda
