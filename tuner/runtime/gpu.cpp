#include <tuner/runtime/gpu.hpp>

#include <tuner/core/error.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/context.hpp>
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/backend/cuda/pointer.hpp>
#endif

namespace tuner::runtime {

#ifdef TUNER_HAS_CUDA

namespace {

std::uint64_t number_of(CUcontext context) { return reinterpret_cast<std::uintptr_t>(context); }

}  // namespace

bool gpu_available() { return cuda::driver_status().available; }

std::uint64_t current_gpu_context() {
  CUcontext context = nullptr;
  cuda::check(cuda::driver().cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  return number_of(context);
}

std::uint64_t gpu_context_of(const void* pointer) {
  if (!gpu_available() || pointer == nullptr) return 0;
  return number_of(cuda::pointer_info(pointer).context);
}

std::uint64_t default_gpu_context() {
  // Never released: see Serving::process().
  static const cuda::Context* const primary = new cuda::Context(cuda::Context::primary(0));
  return number_of(primary->handle());
}

PointerPlace place_of(const void* pointer) {
  return cuda::pointer_kind(pointer) == cuda::PointerKind::unknown ? PointerPlace::host : PointerPlace::device;
}

bool is_capturing(std::uint64_t context, Stream stream) {
  const cuda::ContextGuard guard(reinterpret_cast<CUcontext>(context));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = cuda::driver().cuStreamIsCapturing(static_cast<CUstream>(stream), &status);
  // The legacy default stream cannot be asked while another stream captures in global mode, and cannot be used either.
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
  cuda::check(result, "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::unique_ptr<Backend> open_gpu_context(std::uint64_t context) {
  const cuda::ContextGuard guard(reinterpret_cast<CUcontext>(context));
  CudaOptions options;
  options.use_current_context = true;
  return make_cuda_backend(std::move(options));
}

#else

bool gpu_available() { return false; }
std::uint64_t current_gpu_context() { return 0; }
std::uint64_t gpu_context_of(const void*) { return 0; }
std::uint64_t default_gpu_context() { return 0; }
PointerPlace place_of(const void*) { return PointerPlace::host; }
bool is_capturing(std::uint64_t, Stream) { return false; }
std::unique_ptr<Backend> open_gpu_context(std::uint64_t) {
  throw Error("this tuner was built without the cuda backend");
}

#endif

}  // namespace tuner::runtime
