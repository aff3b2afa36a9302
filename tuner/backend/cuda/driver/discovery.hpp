#pragma once
/// The driver's facts about devices and addresses. Creates no context.

#include <string>
#include <vector>

#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/core/device/device.hpp>

namespace tuner::cuda {

/// One attribute. Throws CudaError.
int device_attribute(CUdevice device, CUdevice_attribute attribute, SourcePlace place = SourcePlace::current());
/// The device with number \p ordinal. Throws Error when it does not exist.
CUdevice device_handle(int ordinal);
/// The number of the device whose context is current on this thread. Throws CudaError.
int current_ordinal();

/// The PCI address of \p device, as NVIDIA's tools write it: "0000:1b:00.0".
std::string pci_address(CUdevice device);

/// Key, limits, environment and name of device \p ordinal; ceilings remain 0. \p compiler: also find NVRTC, and name it
/// in the environment. Throws Error, CudaError.
Device query_device(int ordinal, bool compiler = true);
/// The compute capabilities of all devices, in order: 90 for 9.0.
std::vector<int> query_compute_capabilities();

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

/// With these facts, a host pointer given to a GPU is a clear error, not a fault. Only \ref PointerInfo::here needs a
/// current context. Throws CudaError.
PointerInfo pointer_info(const void* address);

}  // namespace tuner::cuda
