#pragma once
/// What a CUDA backend shares with its modules and memory, so that each may outlive the others. Private to this folder.

#include <atomic>
#include <memory>
#include <utility>

#include <tuner/backend/cuda/context.hpp>
#include <tuner/core/device.hpp>

namespace tuner::cuda {

struct BackendState {
  BackendState(Context context_, Device device_) : context(std::move(context_)), device(std::move(device_)) {}
  ~BackendState() {
    if (!usable) context.leak();
  }

  Context context;
  Device device;
  /// False after a fault or a hang: handles are then dropped instead of freed, since freeing would fail or wait.
  std::atomic<bool> usable = true;
};
using SharedState = std::shared_ptr<BackendState>;

}  // namespace tuner::cuda
