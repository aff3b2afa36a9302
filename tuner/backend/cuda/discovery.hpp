#pragma once
/// The driver's facts about a device. Creates no context.

#include <cstdint>
#include <string>

#include <tuner/backend/cuda/driver.hpp>
#include <tuner/core/device.hpp>

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
/// Only its limits.
DeviceLimits query_limits(CUdevice device);
/// 90 for 9.0.
int query_compute_capability(CUdevice device);

}  // namespace tuner::cuda
