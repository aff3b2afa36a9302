#include <tuner/backend/cuda/context.hpp>

#include <cstring>
#include <utility>

#include <tuner/backend/cuda/discovery.hpp>

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
