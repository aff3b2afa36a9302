#pragma once
/// Contexts, and owning handles of the objects in them. A Context never changes the caller's current context:
/// ContextGuard pushes one for the length of a scope. Deleters never throw: a handle of a lost context is dropped.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/core/device/device.hpp>

namespace tuner::cuda {

/// The caller's context, or a device's primary context kept alive as long as this.
class Context {
 public:
  /// The context that is current on this thread, borrowed. Throws Error when there is none.
  static Context current();
  /// Retains the primary context of device \p ordinal. Throws Error for an ordinal that does not exist, CudaError.
  static Context primary(int ordinal);

  Context(Context&& other) noexcept;
  Context& operator=(Context&& other) = delete;
  ~Context();

  CUcontext handle() const { return handle_; }
  CUdevice device() const { return device_; }
  bool is_callers() const { return !owned_; }
  /// From now on never releases it: that would wait for a kernel that hangs.
  void leak() noexcept { owned_ = false; }

 private:
  Context(CUcontext handle, CUdevice device, bool owned) : handle_(handle), device_(device), owned_(owned) {}

  CUcontext handle_ = nullptr;
  CUdevice device_ = 0;
  bool owned_ = false;
};

/// A number that no other context of this process ever has. Null means the context that is current on this thread.
/// Returns 0 if the context is destroyed, if no context is current, or after the driver has shut down. Drivers before
/// CUDA 12 do not number contexts: for them, returns the handle itself.
std::uint64_t context_id(CUcontext context) noexcept;

/// Makes a context current for a scope. Costs one query when it is current already.
class ContextGuard {
 public:
  explicit ContextGuard(CUcontext context);
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  bool pushed_ = false;
};

/// The state that a CUDA backend shares with its modules and memory, so that each may outlive the others.
struct BackendState {
  BackendState(Context context_, Device device_)
      : context(std::move(context_)), id(context_id(context.handle())), device(std::move(device_)) {}
  ~BackendState() {
    if (is_gone()) context.leak();
  }

  /// Whether handles must be dropped: after a fault or a hang, or when the context was destroyed. A new context may
  /// then have the same handle and give out the same addresses.
  bool is_gone() const noexcept { return !usable || context_id(context.handle()) != id; }

  /// Calls \p free, which frees handles, in the context. Returns false if they must be dropped instead.
  template <typename Free>
  bool free_in_context(Free free) noexcept {
    if (is_gone()) return false;
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

/// The number of launches from the device that may wait, a limit of the context. The context of \p state, which must
/// outlive this, is current in each call.
class PendingLaunches {
 public:
  explicit PendingLaunches(BackendState& state) : state_(state) {}

  /// Makes the limit at least \p pending from now on. Thread-safe. Throws Error.
  void allow(std::int64_t pending);
  /// Sets the limit for \p launches, which run next; undoes what an earlier run needed. One run at a time.
  std::optional<LaunchError> make_room_for(std::span<const Launch> launches);

 private:
  std::int64_t current_limit();
  std::int64_t kept_limit();
  std::optional<std::string> make_room(std::int64_t pending);

  BackendState& state_;
  std::mutex mutex_;  // protects the limit
  std::optional<std::int64_t> kept_limit_;
  bool room_of_a_run_ = false;  // the limit may be above kept_limit_
};

/// Destroys a handle with a function of the driver. Its context must be current, or alive on the device.
template <auto destroy>
struct HandleDeleter {
  template <typename T>
  void operator()(T* handle) const noexcept {
    (driver().*destroy)(handle);
  }
};
using UniqueModule = std::unique_ptr<CUmod_st, HandleDeleter<&Driver::cuModuleUnload>>;
using UniqueEvent = std::unique_ptr<CUevent_st, HandleDeleter<&Driver::cuEventDestroy>>;
using UniqueStream = std::unique_ptr<CUstream_st, HandleDeleter<&Driver::cuStreamDestroy>>;

/// In the current context. \p image: a cubin. Throws CudaError.
UniqueModule load_module(const void* image);
/// \p flags: CU_EVENT_DEFAULT for timing, CU_EVENT_DISABLE_TIMING otherwise.
UniqueEvent make_event(unsigned flags = CU_EVENT_DEFAULT);
/// Not synchronised with the legacy default stream.
UniqueStream make_stream();

/// Page-locked host memory that the device can access too.
class MappedMemory {
 public:
  MappedMemory() = default;
  explicit MappedMemory(std::size_t bytes);  ///< zeroed; in the current context
  void* host() const { return host_.get(); }
  CUdeviceptr device() const { return device_; }
  void leak() noexcept { (void)host_.release(); }

 private:
  std::unique_ptr<void, HandleDeleter<&Driver::cuMemFreeHost>> host_;
  CUdeviceptr device_ = 0;
};

}  // namespace tuner::cuda
