#pragma once
/// What an address is to the CUDA driver, so that a host pointer given to a GPU is a clear error and not a fault.

#include <cuda.h>

#include <string_view>

namespace tuner::cuda {

enum class PointerKind {
  device,
  host,     ///< page-locked and known to the driver
  managed,  ///< both
  unknown,  ///< the driver has never heard of it: ordinary host memory, or no memory
};
std::string_view name(PointerKind kind);  ///< "device" …

struct PointerInfo {
  PointerKind kind = PointerKind::unknown;
  CUcontext context = nullptr;  ///< it was allocated in; null for pool memory and unknown pointers
  int device = -1;              ///< ordinal; -1 when unknown
  CUdeviceptr here = 0;         ///< the address for kernels of the current context; 0: they cannot access it
};

/// Needs no current context, but for \ref PointerInfo::here. Throws CudaError.
PointerInfo pointer_info(const void* address);

}  // namespace tuner::cuda
