#include <tuner/backend/gpu.hpp>

#include <map>
#include <mutex>

#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/backend/cuda/driver/discovery.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>

namespace tuner {
namespace {

CUcontext handle_of(const ContextName& context) { return reinterpret_cast<CUcontext>(context.handle); }

ContextName name_of(CUcontext handle) {
  if (handle == nullptr) return {};
  return {cuda::context_id(handle), reinterpret_cast<std::uintptr_t>(handle)};
}

}  // namespace

ContextName primary_gpu_context(int ordinal) {
  static std::mutex mutex;
  // Never destroyed: see Serving::process().
  static std::map<int, ContextName>& kept = *new std::map<int, ContextName>;
  const std::lock_guard lock(mutex);
  ContextName& known = kept[ordinal];
  if (known.id == 0 || !is_alive(known)) {
    cuda::Context primary = cuda::Context::primary(ordinal);
    known = name_of(primary.handle());
    primary.leak();
  }
  return known;
}

bool is_alive(const ContextName& context) {
  return is_host(context) || cuda::context_id(handle_of(context)) == context.id;
}

CallContext::CallContext(const void* pointer, int ordinal, void* stream) : stream_(stream) {
  if (ordinal == kOnHost) return;
  id_ = cuda::context_id(nullptr);
  if (id_ != 0) return;
  CUcontext handle = nullptr;
  const CUresult result = cuda::driver().cuCtxGetCurrent(&handle);
  if (result == CUDA_ERROR_DEINITIALIZED) {
    throw Error(ErrorCode::context_lost,
                "the CUDA driver has shut down: this call comes after main() has ended; make it earlier");
  }
  if (result == CUDA_ERROR_NOT_INITIALIZED) throw Error(ErrorCode::context_lost, cuda::kForked);
  cuda::check(result, "cuCtxGetCurrent");
  if (handle != nullptr) {
    throw Error(ErrorCode::context_lost,
                "the CUDA context that is current on this thread has been destroyed: make another current first");
  }
  const cuda::PointerInfo info = pointer == nullptr ? cuda::PointerInfo{} : cuda::pointer_info(pointer);
  ContextName chosen = name_of(info.context);
  // Memory of a pool has a device, but no context.
  const bool is_known = info.kind == cuda::PointerKind::device && info.device >= 0;
  if (chosen.id == 0) chosen = primary_gpu_context(is_known ? info.device : ordinal);
  cuda::check(cuda::driver().cuCtxPushCurrent(handle_of(chosen)), "cuCtxPushCurrent");
  pushed_ = true;
  id_ = chosen.id;
}

CallContext::~CallContext() {
  CUcontext popped = nullptr;
  if (pushed_) cuda::driver().cuCtxPopCurrent(&popped);
}

ContextName CallContext::name() const {
  if (id_ == kHostContext.id) return kHostContext;
  CUcontext handle = nullptr;
  cuda::check(cuda::driver().cuCtxGetCurrent(&handle), "cuCtxGetCurrent");
  return {id_, reinterpret_cast<std::uintptr_t>(handle)};
}

CallContext::Capture CallContext::capture() const {
  if (id_ == kHostContext.id) return {};
  const cuda::Driver& driver = cuda::driver();
  auto* const handle = static_cast<CUstream>(stream_);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  CUresult result = CUDA_SUCCESS;
#if CUDA_VERSION >= 12000
  if (driver.cuStreamGetCaptureInfo != nullptr) {
#if CUDA_VERSION >= 13000
    result = driver.cuStreamGetCaptureInfo(handle, &status, nullptr, &graph, nullptr, nullptr, nullptr);
#else
    result = driver.cuStreamGetCaptureInfo(handle, &status, nullptr, &graph, nullptr, nullptr);
#endif
  } else
#endif
    result = driver.cuStreamIsCapturing(handle, &status);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
    throw Error(
        ErrorCode::invalid_argument,
        "the default stream cannot be used while a stream that waits for it is captured: pass the captured stream, or "
        "one created with cudaStreamNonBlocking");
  }
  cuda::check(result, "cuStreamGetCaptureInfo");
  if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
    throw Error(ErrorCode::invalid_argument,
                "the capture of this stream was invalidated by an earlier call: end it first");
  return {status != CU_STREAM_CAPTURE_STATUS_NONE, graph};
}

StreamName CallContext::stream_name() const {
  const auto of_its_own = [](std::uint64_t id) { return StreamName{id, id}; };
  if (id_ == kHostContext.id) return of_its_own(this_thread_as_a_stream());
  auto* const handle = static_cast<CUstream>(stream_);
  const auto place = reinterpret_cast<std::uintptr_t>(handle);
  // A context has exactly one legacy default stream, so a constant identifies it.
  constexpr std::uint64_t kLegacyStream = ~std::uint64_t{0};
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return of_its_own(kLegacyStream);
#if CUDA_VERSION >= 12000
  if (cuda::driver().cuStreamGetId != nullptr) {
    unsigned long long id = 0;
    cuda::check(cuda::driver().cuStreamGetId(handle, &id), "cuStreamGetId");
    // The per-thread default stream is one handle for many streams.
    return handle == CU_STREAM_PER_THREAD ? of_its_own(id) : StreamName{id, place};
  }
#endif
  // Older drivers give streams no number: the handle identifies the stream.
  return of_its_own(handle == CU_STREAM_PER_THREAD ? this_thread_as_a_stream() << 32 : place);
}

std::string CallContext::why_unreachable(const void* pointer) const {
  if (id_ == kHostContext.id) return {};
  const cuda::PointerInfo info = cuda::pointer_info(pointer);
  const bool here = info.here == reinterpret_cast<std::uintptr_t>(pointer);  // true for accessible memory of a peer too
  if (info.kind == cuda::PointerKind::managed || (info.kind != cuda::PointerKind::unknown && here)) return {};
  const int ordinal = cuda::current_ordinal();
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
  throw Error("this driver cannot lend work space to a graph: use CUDA 12.3 or later, or pass your own Workspace");
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
  // cuCtxSynchronize() fails while a stream of the context is captured, and ends the capture. Freeing memory waits too,
  // and does not harm a capture.
  CUdeviceptr memory = 0;
  const CUresult allocated = cuda::driver().cuMemAlloc(&memory, 1);
  if (allocated == CUDA_ERROR_OUT_OF_MEMORY) return cuda::check(cuda::driver().cuCtxSynchronize(), "cuCtxSynchronize");
  cuda::check(allocated, "cuMemAlloc");
  cuda::check(cuda::driver().cuMemFree(memory), "cuMemFree");
}

}  // namespace tuner
