#include <tuner/backend/cuda/driver/context.hpp>

#include <algorithm>
#include <cstring>

#include <tuner/backend/cuda/driver/discovery.hpp>

namespace tuner::cuda {

Context Context::current() {
  CUcontext handle = nullptr;
  check(driver().cuCtxGetCurrent(&handle), "cuCtxGetCurrent");
  if (handle == nullptr) throw Error("no CUDA context is current on this thread; make one current or name a device");
  CUdevice device = 0;
  check(driver().cuCtxGetDevice(&device), "cuCtxGetDevice");
  return Context(handle, device, false);
}

Context Context::primary(int ordinal) {
  const CUdevice device = device_handle(ordinal);
  CUcontext handle = nullptr;
  check(driver().cuDevicePrimaryCtxRetain(&handle, device), "cuDevicePrimaryCtxRetain");
  return Context(handle, device, true);
}

Context::Context(Context&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      device_(other.device_),
      owned_(std::exchange(other.owned_, false)) {}

Context::~Context() {
  if (owned_) driver().cuDevicePrimaryCtxRelease(device_);
}

std::uint64_t context_id(CUcontext context) noexcept {
#if CUDA_VERSION >= 12000
  if (driver().cuCtxGetId != nullptr) {
    unsigned long long id = 0;
    return driver().cuCtxGetId(context, &id) == CUDA_SUCCESS ? id : 0;
  }
#endif
  if (context == nullptr && driver().cuCtxGetCurrent(&context) != CUDA_SUCCESS) return 0;
  return reinterpret_cast<std::uintptr_t>(context);
}

ContextGuard::ContextGuard(CUcontext context) {
  CUcontext current = nullptr;
  check(driver().cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  if (current == context) return;
  check(driver().cuCtxPushCurrent(context), "cuCtxPushCurrent");
  pushed_ = true;
}

ContextGuard::~ContextGuard() {
  CUcontext popped = nullptr;
  if (pushed_) driver().cuCtxPopCurrent(&popped);
}

void PendingLaunches::allow(std::int64_t pending) {
  const std::lock_guard lock(mutex_);
  const std::int64_t before = kept_limit();
  // Never lowers the limit here: a run on another thread may need it.
  if (const std::optional<std::string> why = make_room(std::max(pending, current_limit())))
    throw Error(ErrorCode::out_of_memory, *why);
  kept_limit_ = std::max(before, pending);
}

std::optional<LaunchError> PendingLaunches::make_room_for(std::span<const Launch> launches) {
  std::int64_t pending = 0;
  for (const Launch& launch : launches) pending = std::max(pending, launch.device_launches);
  if (pending == 0 && !room_of_a_run_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  room_of_a_run_ = pending > 0;
  if (std::optional<std::string> why = make_room(pending)) return LaunchError{std::move(*why)};
  return std::nullopt;
}

std::int64_t PendingLaunches::current_limit() {
  std::size_t limit = 0;
  state_.watch(driver().cuCtxGetLimit(&limit, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT), "cuCtxGetLimit");
  return static_cast<std::int64_t>(limit);
}

/// The limit never becomes lower than this: at first the context's limit, which the program may have chosen.
std::int64_t PendingLaunches::kept_limit() {
  if (!kept_limit_) kept_limit_ = current_limit();
  return *kept_limit_;
}

/// Sets the limit for \p pending launches. Returns the reason if it is too high.
std::optional<std::string> PendingLaunches::make_room(std::int64_t pending) {
  const std::int64_t wanted = std::max(pending, kept_limit()), there = current_limit();
  if (wanted == there) return std::nullopt;
  const CUresult result =
      driver().cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, static_cast<std::size_t>(wanted));
  if (is_sticky(result)) state_.usable = false;
  if (result == CUDA_SUCCESS || wanted < there) return std::nullopt;
  return state_.device.name + " has no room for " + std::to_string(wanted) +
         " pending launches from the device: " + error_text(result);
}

UniqueModule load_module(const void* image) {
  CUmodule module = nullptr;
  check(driver().cuModuleLoadData(&module, image), "cuModuleLoadData");
  return UniqueModule(module);
}

UniqueEvent make_event(unsigned flags) {
  CUevent event = nullptr;
  check(driver().cuEventCreate(&event, flags), "cuEventCreate");
  return UniqueEvent(event);
}

UniqueStream make_stream() {
  CUstream stream = nullptr;
  check(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return UniqueStream(stream);
}

MappedMemory::MappedMemory(std::size_t bytes) {
  void* memory = nullptr;
  check(driver().cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
  host_.reset(memory);
  std::memset(memory, 0, bytes);
  check(driver().cuMemHostGetDevicePointer(&device_, memory, 0), "cuMemHostGetDevicePointer");
}

}  // namespace tuner::cuda
