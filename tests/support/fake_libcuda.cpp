// A CUDA driver for machines without a GPU: contexts, streams, captures, pointers and launches as bookkeeping over
// ordinary memory. Kernels do not run. Built as libcuda.so.1, which the tests load in place of the driver.
#include "fake_libcuda.hpp"

#include <cuda.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

struct CUctx_st {
  unsigned long long id = 0;  // 0: destroyed
  int device = 0;
};
struct CUgraph_st {
  std::vector<std::pair<CUhostFn, void*>> objects;
};
struct CUstream_st {
  unsigned long long id = 0;
  CUgraph graph = nullptr;  // while captured
};
struct CUuserObject_st {
  CUhostFn destroy;
  void* object;
};

namespace {

constexpr int kDevices = 2;
unsigned long long next_id = 100;
CUctx_st primary[kDevices];
thread_local std::vector<CUcontext> current;
CUstream_st default_stream{7, nullptr};
/// Bytes and device. Never destroyed: what a dead context held nobody frees, and it is no leak of the program's.
std::map<CUdeviceptr, std::pair<std::size_t, int>>& memory = *new std::map<CUdeviceptr, std::pair<std::size_t, int>>;
std::set<CUstream>& streams = *new std::set<CUstream>;  // likewise
std::mutex mutex;
FakeDriver seen;
std::vector<CUstream>& destroyed = *new std::vector<CUstream>;  // the next stream has the handle of the last
std::atomic<int> captured{0};                                   // streams
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/// What the true driver does to calls that may disturb a capture: seen with driver 580 on an H100.
CUresult beside_captures() {
  if (captured == 0 || capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  std::atomic_ref(seen.captures_ended).fetch_add(1);
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}
void count_wait() { std::atomic_ref(seen.waits).fetch_add(1); }

void count_call() { std::atomic_ref(seen.calls).fetch_add(1, std::memory_order_relaxed); }

CUcontext top() { return current.empty() ? nullptr : current.back(); }
CUstream_st& stream_of(CUstream stream) { return stream == nullptr ? default_stream : *stream; }

int attribute(CUdevice_attribute which) {
  static const std::map<CUdevice_attribute, int> known{{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                                                       {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
                                                       {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
                                                       {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                                                       {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                                                       {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
                                                       {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
                                                       {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
                                                       {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
                                                       {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024}};
  const auto at = known.find(which);
  return at != known.end() ? at->second : 65535;
}

}  // namespace

extern "C" {

FakeDriver* fake_driver() { return &seen; }

CUresult cuInit(unsigned) { return ++seen.starts, CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "FAKE_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "of the fake driver", CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = kDevices, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) { return std::strncpy(name, "fake", bytes), CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  return *value = attribute(which), CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) { return *bytes = std::size_t{1} << 30, CUDA_SUCCESS; }

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (primary[device].id == 0) primary[device] = {next_id++, device};
  return *context = &primary[device], CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return primary[device].id = 0, CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext* context) {
  count_call();
  return *context = top(), CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  count_call();
  return current.push_back(context), CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  count_call();
  *context = top();
  return current.pop_back(), CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) { return *device = top()->device, CUDA_SUCCESS; }
CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  count_call();
  if (context == nullptr) context = top();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *id = context->id;
  return *id == 0 ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}
CUresult cuCtxGetLimit(std::size_t* value, CUlimit) { return *value = seen.pending_limit, CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit, std::size_t value) { return seen.pending_limit = value, CUDA_SUCCESS; }
CUresult cuCtxSynchronize() {
  count_wait();
  if (captured == 0) return CUDA_SUCCESS;
  std::atomic_ref(seen.captures_ended).fetch_add(1);  // in whatever mode
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

#if CUDA_VERSION >= 12000
// A map begins with its address.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank, void* address,
                                const cuuint64_t* extents, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  count_call();
  ++seen.tensor_maps;
  map->opaque[0] = reinterpret_cast<cuuint64_t>(address);
  seen.map_extent = extents[rank - 1];
  return CUDA_SUCCESS;
}
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  count_call();
  ++seen.moved_tensor_maps;
  return map->opaque[0] = reinterpret_cast<cuuint64_t>(address), CUDA_SUCCESS;
}
#endif

CUresult cuModuleLoadData(CUmodule* module, const void*) {
  return *module = reinterpret_cast<CUmodule>(&seen), ++seen.modules, CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  return *function = reinterpret_cast<CUfunction>(&seen), CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal(CUdeviceptr*, std::size_t*, CUmodule, const char*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return *value = 1024, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return *value = seen.compiled_cluster, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return *value = seen.compiled_cluster > 0 ? 1 : 0, CUDA_SUCCESS;
    default:
      return *value = 16, CUDA_SUCCESS;
  }
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuLaunchKernel(CUfunction, unsigned grid, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void** parameters, void**) {
  count_call();
  {
    const std::lock_guard lock(mutex);
    ++seen.launches;
    seen.launched_by.push_back(std::this_thread::get_id());
    seen.grid = grid;
    seen.carveout = -1;
    std::memset(seen.cluster, 0, sizeof seen.cluster);
    for (std::size_t i = 0; i < seen.least_parameters; ++i)
      std::memcpy(&seen.parameters[i], parameters[i], sizeof(void*));
    seen.context = top()->id;
  }
  std::this_thread::yield();  // a call of several launches can be interrupted here
  return CUDA_SUCCESS;
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, CUstream stream, void** parameters) {
  ++seen.cooperative;
  return cuLaunchKernel(function, grid, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  const CUresult result = cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ, 1, 1, 1, 0,
                                         config->hStream, parameters, extra);
  const std::lock_guard lock(mutex);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttributeValue& value = config->attrs[i].value;
    switch (config->attrs[i].id) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        ++seen.cooperative;
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        ++seen.dependent;
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        seen.cluster[0] = value.clusterDim.x;
        seen.cluster[1] = value.clusterDim.y;
        seen.cluster[2] = value.clusterDim.z;
        break;
#if CUDA_VERSION >= 12060
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        seen.carveout = static_cast<int>(value.sharedMemCarveout);
        break;
#endif
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return result;
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction, const CUlaunchConfig*) {
  return *clusters = seen.clusters, CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
  return *blocks = 1, CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (const CUresult forbidden = beside_captures()) return forbidden;
  const std::lock_guard lock(mutex);
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  memory[*address] = {bytes, top()->device};
  ++seen.allocations;
  seen.bytes += bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  if (const CUresult forbidden = beside_captures()) return forbidden;
  count_wait();
  const std::lock_guard lock(mutex);
  seen.bytes -= memory[address].first;
  memory.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned) { return cuMemAlloc(address, bytes); }
CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  return *address = std::malloc(bytes), CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* address) { return std::free(address), CUDA_SUCCESS; }
CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned) {
  return *address = reinterpret_cast<CUdeviceptr>(host), CUDA_SUCCESS;
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) { return *free = *total = 1 << 30, CUDA_SUCCESS; }
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return std::memcpy(to, reinterpret_cast<void*>(from), bytes), CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
  return std::memset(reinterpret_cast<void*>(to), value, bytes), CUDA_SUCCESS;
}
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** answers, CUdeviceptr address) {
  count_call();
  const std::lock_guard lock(mutex);
  auto at = memory.upper_bound(address);
  const bool known = at != memory.begin() && address < std::prev(at)->first + std::prev(at)->second.first;
  const int device = known ? std::prev(at)->second.second : -2;
  for (unsigned i = 0; i < count; ++i) {
    if (which[i] == CU_POINTER_ATTRIBUTE_CONTEXT)
      *static_cast<CUcontext*>(answers[i]) = known ? &primary[device] : nullptr;
    else if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
      *static_cast<CUdeviceptr*>(answers[i]) = known && top() != nullptr && top()->device == device ? address : 0;
    else if (which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
      *static_cast<unsigned*>(answers[i]) = known ? CU_MEMORYTYPE_DEVICE : 0;
    else if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      *static_cast<int*>(answers[i]) = device;
    else
      *static_cast<unsigned*>(answers[i]) = 0;
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  const std::lock_guard lock(mutex);
  if (destroyed.empty()) destroyed.push_back(new CUstream_st);
  *stream = destroyed.back();
  destroyed.pop_back();
  **stream = {next_id++, nullptr};
  streams.insert(*stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  const std::lock_guard lock(mutex);
  streams.erase(stream);
  return destroyed.push_back(stream), CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) { return beside_captures(); }
CUresult cuStreamQuery(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) { return CUDA_SUCCESS; }
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  count_call();
  if (stream_of(stream).graph != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // as the true one
  return *id = stream_of(stream).id, CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status = stream_of(stream).graph != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  ++captured;
  return stream_of(stream).graph = new CUgraph_st, CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  --captured;
  return *graph = std::exchange(stream_of(stream).graph, nullptr), CUDA_SUCCESS;
}
#if CUDA_VERSION >= 13000
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph* graph,
                                const CUgraphNode**, const CUgraphEdgeData**, std::size_t*) {
#else
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph* graph,
                                const CUgraphNode**, std::size_t*) {
#endif
  count_call();
  *graph = stream_of(stream).graph;
  return cuStreamIsCapturing(stream, status);
}
CUresult cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy, unsigned, unsigned) {
  return *object = new CUuserObject_st{destroy, pointer}, CUDA_SUCCESS;
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned, unsigned) {
  graph->objects.emplace_back(object->destroy, object->object);
  return delete object, CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  for (const auto& [destroy, object] : graph->objects) destroy(object);
  return delete graph, CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  count_call();
  return std::swap(*mode, capture_mode), CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) { return *event = reinterpret_cast<CUevent>(&seen), CUDA_SUCCESS; }
CUresult cuEventDestroy(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
CUresult cuEventQuery(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) { return *ms = 1, CUDA_SUCCESS; }

}  // extern "C"
