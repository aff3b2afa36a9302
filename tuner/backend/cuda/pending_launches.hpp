#pragma once
/// Room for launches from the device that wait, which is a limit of the context. Private to this folder.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/backend_state.hpp>

namespace tuner::cuda {

/// All in the context of \p state, which outlives this.
class PendingLaunches {
 public:
  explicit PendingLaunches(BackendState& state) : state_(state) {}

  /// From now on at least \p pending. Any thread. Throws Error.
  void allow(std::int64_t pending) {
    const std::lock_guard lock(mutex_);
    const std::int64_t before = for_good();
    // Not less than there is: another thread's run may need it now.
    if (const std::optional<std::string> why = make_room(std::max(pending, now())))
      throw Error(ErrorCode::out_of_memory, *why);
    for_good_ = std::max(before, pending);
  }

  /// For \p launches, which run next, and takes back what an earlier run had. One run at a time.
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
  /// What the context's limit never falls below: what it was at first, which may be the program's own choice.
  std::int64_t for_good() {
    if (!for_good_) for_good_ = now();
    return *for_good_;
  }
  /// Why \p pending launches from the device cannot wait, if they cannot.
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
  std::mutex mutex_;  // of the limit
  std::optional<std::int64_t> for_good_;
  bool room_of_a_run_ = false;  // the limit may be above for_good_
};

}  // namespace tuner::cuda
