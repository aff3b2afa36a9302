#pragma once
/// The state that a CUDA backend shares with its modules and memory, so that each may outlive the others. Private to
/// this folder.

#include <atomic>
#include <memory>
#include <utility>

#include <tuner/backend/cuda/context.hpp>
#include <tuner/core/device.hpp>

namespace tuner::cuda {

struct BackendState {
  BackendState(Context context_, Device device_)
      : context(std::move(context_)), id(context_id(context.handle())), device(std::move(device_)) {}
  ~BackendState() {
    if (gone()) context.leak();
  }

  /// Whether handles must be dropped: after a fault or a hang, or when the context was destroyed. A new context may
  /// then have the same handle and give out the same addresses.
  bool gone() const noexcept { return !usable || context_id(context.handle()) != id; }

  /// Calls \p free, which frees handles, in the context. Returns false if they must be dropped instead.
  template <typename Free>
  bool free_in_context(Free free) noexcept {
    if (gone()) return false;
    try {
      const ContextGuard guard(context.handle());
      free();
      return true;
    } catch (const CudaError&) {  // the context is gone, with all that was in it
      return false;
    }
  }

  /// Throws CudaError unless \p result is CUDA_SUCCESS. A fault of an earlier kernel can surface in any call.
  void watch(CUresult result, const char* call, SourcePlace at = SourcePlace::current()) {
    if (is_sticky(result)) usable = false;
    check(result, call, at);
  }

  Context context;
  std::uint64_t id;
  Device device;
  /// False after a fault or a hang: handles are then dropped instead of freed, since freeing would fail or wait.
  std::atomic<bool> usable = true;
};
using SharedState = std::shared_ptr<BackendState>;

}  // namespace tuner::cuda
