#pragma once
/// Chooses the device that does the work, and says why.

#include <string>
#include <string_view>

#include <tuner/backend/all/backends.hpp>

namespace tuner {

struct DeviceChoice {
  Device device;
  std::string reason;  ///< "no NVIDIA driver: libcuda.so.1 not found", "first of 2 GPUs", "asked for"
};

/// \p device: "auto" (the first usable GPU, else the host), "cuda" (the first GPU), a GPU's ordinal, or "host".
/// Asks drivers but opens nothing. Throws Error when what was asked for by name is not there, with the reason.
DeviceChoice choose_device(std::string_view device);

/// A GPU's ordinal as people write it; nothing for anything else.
std::optional<int> gpu_ordinal(std::string_view text);

/// Measures what \p device can stream and fills in its ceilings and peaks; takes about a tenth of a second.
void measure_ceilings(Device& device);

}  // namespace tuner
