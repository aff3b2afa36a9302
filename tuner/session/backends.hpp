#pragma once
/// Chooses the device that does the work, and says why.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner {

struct DeviceChoice {
  Device device;
  std::string reason;  ///< "no NVIDIA driver: libcuda.so.1 not found", "first of 2 GPUs", "asked for"
};

/// \p device: "auto" (the first usable GPU, else the host), "cuda" (the first GPU), a GPU's ordinal, or "host".
/// Asks drivers but opens no context. Throws Error when what was asked for by name is not there, with the reason.
DeviceChoice choose_device(std::string_view device);

/// All devices of this machine: GPUs in order, then the host.
std::vector<Device> list_devices();

/// Why there is no GPU to use: "libcuda.so.1 not found: no NVIDIA driver is installed"; empty when there is one.
std::string why_no_gpu();

/// Opens \p device in this process (a GPU: its primary context). Throws Error.
std::unique_ptr<Backend> open_backend(const Device& device);

/// Measures what \p device can stream and fills in read_ceiling and copy_ceiling; takes about a tenth of a second.
void measure_ceilings(Device& device);

}  // namespace tuner
