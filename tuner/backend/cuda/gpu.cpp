#include <tuner/backend/gpu.hpp>

#include <map>
#include <mutex>

#include <tuner/backend/cuda/context.hpp>
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/backend/cuda/pointer.hpp>

namespace tuner {
namespace {

CUcontext handle_of(const ContextName& context) { return reinterpret_cast<CUcontext>(context.handle); }

ContextName name_of(CUcontext handle) {
  if (handle == nullptr) return {};
  return {cuda::context_id(handle), reinterpret_cast<std::uintptr_t>(handle)};
}

}  // namespace

bool gpu_available() {
  if (cuda::driver_status().forked) throw Error(cuda::driver_status().reason);
  return cuda::driver_status().available;
}

ContextName current_gpu_context() {
  CUcontext handle = nullptr;
  const CUresult result = cuda::driver().cuCtxGetCurrent(&handle);
  if (result == CUDA_ERROR_DEINITIALIZED) {
    throw Error("the CUDA driver has shut down: this call comes after main() has ended; make it earlier");
  }
  if (result == CUDA_ERROR_NOT_INITIALIZED) throw Error(cuda::kForked);
  cuda::check(result, "cuCtxGetCurrent");
  const ContextName name = name_of(handle);
  if (handle != nullptr && name.id == 0) {
    throw Error("the CUDA context that is current on this thread has been destroyed: make another one current first");
  }
  return name;
}

ContextName gpu_context_of(const void* pointer) {
  return pointer == nullptr ? ContextName{} : name_of(cuda::pointer_info(pointer).context);
}

ContextName primary_gpu_context(int ordinal) {
  static std::mutex mutex;
  static std::map<int, ContextName>& kept = *new std::map<int, ContextName>;  // never released: see Serving::process()
  const std::lock_guard lock(mutex);
  ContextName& known = kept[ordinal];
  if (known.id == 0 || !is_alive(known)) {
    cuda::Context primary = cuda::Context::primary(ordinal);
    known = name_of(primary.handle());
    primary.leak();
  }
  return known;
}

bool is_alive(const ContextName& context) { return cuda::context_id(handle_of(context)) == context.id; }

std::string why_unreachable(const void* pointer, int ordinal, const ContextName& context) {
  const cuda::ContextGuard guard(handle_of(context));
  const cuda::PointerInfo info = cuda::pointer_info(pointer);
  const bool here = info.here == reinterpret_cast<std::uintptr_t>(pointer);  // a peer's memory too, where it is allowed
  if (info.kind == cuda::PointerKind::managed || (info.kind != cuda::PointerKind::unknown && here)) return {};
  const std::string gpu = "GPU " + std::to_string(ordinal);
  if (info.kind == cuda::PointerKind::device) {
    if (info.device == ordinal) return {};
    const std::string owner = "GPU " + std::to_string(info.device);
    return "is memory of " + owner + ", which " + gpu + " cannot access: make the context of " + owner +
           " current (cudaSetDevice), or copy it over first";
  }
  return "is host memory, and the call runs on " + gpu +
         ": copy it to memory from cudaMalloc or cudaMallocManaged first, or serve from the CPU with TUNER_DEVICE=host";
}

StreamState stream_state(const ContextName& context, void* stream) {
  if (is_host(context)) return this_thread_as_a_stream();
  const cuda::ContextGuard guard(handle_of(context));
  const cuda::Driver& driver = cuda::driver();
  auto* const handle = static_cast<CUstream>(stream);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  StreamState state;
  CUgraph graph = nullptr;
  CUresult result = CUDA_SUCCESS;
#if CUDA_VERSION >= 12000
  if (driver.cuStreamGetCaptureInfo != nullptr) {
#if CUDA_VERSION >= 13000
    result = driver.cuStreamGetCaptureInfo(handle, &status, nullptr, &graph, nullptr, nullptr, nullptr);
#else
    result = driver.cuStreamGetCaptureInfo(handle, &status, nullptr, &graph, nullptr, nullptr);
#endif
  } else {
    result = driver.cuStreamIsCapturing(handle, &status);
  }
#else
  result = driver.cuStreamIsCapturing(handle, &status);
#endif
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
    throw Error(
        "the default stream cannot be used while a stream that waits for it is captured: pass the captured stream, or "
        "one "
        "created with cudaStreamNonBlocking");
  }
  cuda::check(result, "cuStreamGetCaptureInfo");
  state.capturing = status != CU_STREAM_CAPTURE_STATUS_NONE;
  state.graph = graph;
  if (state.capturing) return state;  // to ask for the id of such a stream would end the capture
#if CUDA_VERSION >= 12000
  if (driver.cuStreamGetId != nullptr) {
    unsigned long long id = 0;
    cuda::check(driver.cuStreamGetId(handle, &id), "cuStreamGetId");
    state.id = id;
    return state;
  }
#endif
  // An older driver: the handle. The per-thread default stream is one handle for many streams.
  state.id = reinterpret_cast<std::uintptr_t>(handle) + 1;
  if (handle == CU_STREAM_PER_THREAD) state.id = this_thread_as_a_stream().id << 32;
  return state;
}

void keep_until_destroyed(void* graph, void (*release)(void*), void* object) {
#if CUDA_VERSION >= 12000
  const cuda::Driver& driver = cuda::driver();
  if (graph != nullptr && driver.cuUserObjectCreate != nullptr && driver.cuGraphRetainUserObject != nullptr) {
    CUuserObject owner = nullptr;
    cuda::check(driver.cuUserObjectCreate(&owner, object, release, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                "cuUserObjectCreate");
    cuda::check(driver.cuGraphRetainUserObject(static_cast<CUgraph>(graph), owner, 1, CU_GRAPH_USER_OBJECT_MOVE),
                "cuGraphRetainUserObject");
    return;
  }
#endif
  (void)release, (void)object;
  throw Error("this driver cannot lend work space to a graph: use CUDA 12.3 or later, or pass a Workspace of your own");
}

BesideCaptures::BesideCaptures(const ContextName& context) {
  if (is_host(context) || cuda::driver().cuThreadExchangeStreamCaptureMode == nullptr) return;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (cuda::driver().cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS) mode_ = static_cast<int>(mode);
}

BesideCaptures::~BesideCaptures() {
  if (mode_ < 0) return;
  auto mode = static_cast<CUstreamCaptureMode>(mode_);
  cuda::driver().cuThreadExchangeStreamCaptureMode(&mode);
}

void wait_for_all(const ContextName& context) {
  if (is_host(context)) return;
  const cuda::ContextGuard guard(handle_of(context));
  const BesideCaptures allowed(context);
  cuda::check(cuda::driver().cuCtxSynchronize(), "cuCtxSynchronize");
}

std::unique_ptr<Backend> open_gpu_context(const ContextName& context) {
  const cuda::ContextGuard guard(handle_of(context));
  CudaOptions options;
  options.use_current_context = true;
  return make_cuda_backend(std::move(options));
}

}  // namespace tuner
