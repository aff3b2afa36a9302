#pragma once
/// The CUDA driver (libcuda.so.1), loaded at run time: a table of its functions, typed by cuda.h, its errors, and why
/// it is missing. tuner links no CUDA library, so programs also start on a machine without a driver. All functions are
/// thread-safe.

#include <cuda.h>

#include <string>

#include <tuner/backend/cuda/driver/toolkit.hpp>
#include <tuner/error.hpp>

namespace tuner::cuda {

// clang-format off
#define TUNER_CUDA_REQUIRED(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGet) X(cuDeviceGetCount) \
  X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) \
  X(cuDevicePrimaryCtxRelease) X(cuCtxGetCurrent) X(cuCtxPushCurrent) X(cuCtxPopCurrent) X(cuCtxGetDevice) \
  X(cuCtxSynchronize) X(cuCtxGetLimit) X(cuCtxSetLimit) X(cuModuleLoadData) X(cuModuleUnload) \
  X(cuModuleGetFunction) X(cuModuleGetGlobal) X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuLaunchKernel) \
  X(cuLaunchCooperativeKernel) X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuMemAlloc) X(cuMemFree) \
  X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemHostGetDevicePointer) X(cuMemGetInfo) \
  X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemsetD8Async) X(cuMemAllocManaged) X(cuPointerGetAttributes) \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamQuery) X(cuStreamWaitEvent) \
  X(cuStreamIsCapturing) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventQuery)

#define TUNER_CUDA_OPTIONAL(X) \
  X(cuEventElapsedTime) X(cuThreadExchangeStreamCaptureMode) X(cuStreamBeginCapture) X(cuStreamEndCapture) \
  X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) \
  X(cuArray3DCreate) X(cuArrayDestroy) X(cuMemcpy3DAsync) X(cuMemcpyDtoDAsync) X(cuTexObjectCreate) \
  X(cuTexObjectDestroy) X(cuSurfObjectCreate) X(cuSurfObjectDestroy) \
  TUNER_CUDA_OPTIONAL_11_8(X) TUNER_CUDA_OPTIONAL_12(X)
#if CUDA_VERSION >= 11080
#define TUNER_CUDA_OPTIONAL_11_8(X) X(cuLaunchKernelEx) X(cuOccupancyMaxActiveClusters)
#else
#define TUNER_CUDA_OPTIONAL_11_8(X)
#endif
#if CUDA_VERSION >= 12000
#define TUNER_CUDA_OPTIONAL_12(X) \
  X(cuCtxGetId) X(cuStreamGetId) X(cuStreamGetCaptureInfo) X(cuUserObjectCreate) X(cuGraphRetainUserObject) \
  X(cuTensorMapEncodeTiled) X(cuTensorMapReplaceAddress) \
  TUNER_CUDA_OPTIONAL_12_4(X)
#else
#define TUNER_CUDA_OPTIONAL_12(X)
#endif
#if CUDA_VERSION >= 12040
#define TUNER_CUDA_OPTIONAL_12_4(X) X(cuFuncGetParamInfo)
#else
#define TUNER_CUDA_OPTIONAL_12_4(X)
#endif
// clang-format on

/// The driver's functions under their own names: `driver().cuLaunchKernel(...)`. Optional ones are null if this driver
/// lacks them, except cuEventElapsedTime, which every driver has under one of its names.
struct Driver {
  TUNER_CUDA_REQUIRED(TUNER_MEMBER)
  TUNER_CUDA_OPTIONAL(TUNER_MEMBER)
};

/// The oldest supported driver: 11.4 (cuGraphInstantiateWithFlags, NVRTC cubins by minor-version compatibility).
inline constexpr int kOldestDriver = 11040;

/// The message for the driver's "not initialized" after a successful start.
inline constexpr const char* kForked =
    "this process was forked from one that had used CUDA, which does not survive fork(): start it with exec, or fork "
    "before the first call to CUDA";

struct DriverStatus {
  bool available = false;  ///< a driver and at least one device
  bool forked = false;     ///< from a process that had used CUDA
  bool passing = false;    ///< it is not available now, for a reason of the moment (core/values/passing.hpp): ask again

  std::string reason;  ///< "libcuda.so.1 not found: …"; empty if available
  int version = 0;     ///< 13000 for CUDA 13.0; 0 without a driver
  int devices = 0;
};

/// An opened library and its state. The library is never closed.
struct LoadedDriver {
  Driver functions;
  DriverStatus status;
};
/// Opens \p library and initialises it. Never throws; see LoadedDriver::status. For tests; others call driver().
LoadedDriver load_driver(const char* library);

/// The state of libcuda.so.1, which the first call opens. It stays, unless it is passing.
DriverStatus driver_status();
/// Only DriverStatus::version. Does not initialise the driver, so that compiling needs no device.
int driver_version();
/// The functions of libcuda.so.1. Throws Error with DriverStatus::reason if it is not available, and Passing if it is
/// not available now.
const Driver& driver();

/// "13.0" for 13000.
std::string version_text(int version);

/// A call to the driver that failed.
class CudaError : public Error {
 public:
  /// \p call: "cuModuleLoadData".
  CudaError(CUresult result, const std::string& call, std::string place);
  CUresult result() const { return result_; }
  const std::string& place() const { return place_; }  ///< "tuner/backend/cuda/driver/context.cpp:31"

 private:
  CUresult result_;
  std::string place_;
};

/// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
std::string error_text(CUresult result);
/// Whether \p result means that the context is lost: this process cannot run kernels any more.
bool is_sticky(CUresult result);

/// A line of source text: a substitute for std::source_location, which clang 14 lacks.
struct SourcePlace {
  const char* file;
  int line;
  /// As a default argument: the caller's line.
  static constexpr SourcePlace current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

[[noreturn]] void throw_error(CUresult result, const char* call, SourcePlace place);
/// Throws CudaError unless \p result is CUDA_SUCCESS.
inline void check(CUresult result, const char* call, SourcePlace place = SourcePlace::current()) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_error(result, call, place);
}

}  // namespace tuner::cuda
