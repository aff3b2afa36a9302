#pragma once
/// Chooses the devices that do the work, and says why.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/all/backends.hpp>

namespace tuner {

struct DeviceChoice {
  Device device;
  std::string reason;          ///< "first of 2 GPUs", "selected with --device"
  std::vector<int> more = {};  ///< ordinals of other devices with the same key, which share the work
};

/// \p device: "auto" (the first usable GPU, else the host), "cuda" (the first GPU), a GPU's ordinal, or "host".
/// Asks drivers but opens nothing. Throws Error with the reason when \p device is not there.
DeviceChoice choose_device(std::string_view device);

/// \p devices: names as for choose_device(), separated by commas ("0,2"), or "all" for all GPUs. Throws Error like
/// choose_device(), and for a device that is named twice.
std::vector<DeviceChoice> choose_each(std::string_view devices);
/// The same devices as one choice. Throws Error unless all have one device key: a configuration's time has to mean the
/// same on each.
DeviceChoice choose_devices(std::string_view devices);
/// \p devices, at least one, as one choice. \p names: how the user named them, for the message.
DeviceChoice join_choices(std::vector<DeviceChoice> devices, std::string_view names);
/// The devices with the ordinals \p devices, for people: "GPUs 0, 2", "host 0".
std::string ordinals_text(const DeviceKey& kind, const std::vector<int>& devices);

/// How the texts of two device keys differ: "sm=132 and sm=114".
std::string key_difference(const std::string& a, const std::string& b);

/// Whether \p text is one of the names that choose_device() takes.
bool is_device_name(std::string_view text);
/// A GPU's ordinal as people write it; nullopt for anything else.
std::optional<int> gpu_ordinal(std::string_view text);

}  // namespace tuner
