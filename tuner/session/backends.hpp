#pragma once
/// Chooses the devices that do the work, and says why.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/all/backends.hpp>

namespace tuner {

struct DeviceChoice {
  Device device;
  std::string reason;          ///< "no NVIDIA driver: libcuda.so.1 not found", "first of 2 GPUs", "asked for"
  std::vector<int> more = {};  ///< ordinals of further devices with its key that share the work
};

/// \p device: "auto" (the first usable GPU, else the host), "cuda" (the first GPU), a GPU's ordinal, or "host".
/// Asks drivers but opens nothing. Throws Error when what was asked for by name is not there, with the reason.
DeviceChoice choose_device(std::string_view device);

/// \p devices: as for choose_device(), several of these separated by commas ("0,2", "0,host"), or "all" GPUs. One
/// choice for each kind of device, in the order given. Throws Error like choose_device(), and for one that is named
/// twice.
std::vector<DeviceChoice> choose_devices(std::string_view devices);
/// The one choice for \p devices. Throws Error that names the difference where they are not of one kind.
DeviceChoice choose_alike(std::string_view devices);

/// One choice for each DeviceKey among \p devices, in their order.
std::vector<DeviceChoice> by_kind(const std::vector<DeviceChoice>& devices);
/// What tells two kinds of device apart, by the texts of their keys: "sm=132 and sm=114".
std::string difference(const std::string& a, const std::string& b);

/// A GPU's ordinal as people write it; nothing for anything else.
std::optional<int> gpu_ordinal(std::string_view text);

/// Measures what \p device can stream and fills in its ceilings and peaks; takes about a tenth of a second.
void measure_ceilings(Device& device);

}  // namespace tuner
