#pragma once
/// The CUDA driver's facts about an address. With them, a host pointer given to a GPU is a clear error, not a fault.

#include <cuda.h>

namespace tuner::cuda {

enum class PointerKind {
  device,
  host,     ///< page-locked and known to the driver
  managed,  ///< for the host and the device
  unknown,  ///< not known to the driver: ordinary host memory, or no memory
};

struct PointerInfo {
  PointerKind kind = PointerKind::unknown;
  CUcontext context = nullptr;  ///< in which it was allocated; null for pool memory and unknown pointers
  int device = -1;              ///< ordinal; -1 when unknown
  CUdeviceptr here = 0;         ///< its address for kernels of the current context; 0: they cannot access it
};

/// Only \ref PointerInfo::here needs a current context. Throws CudaError.
PointerInfo pointer_info(const void* address);

}  // namespace tuner::cuda
