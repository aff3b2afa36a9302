#include <tuner/session/tuning/device_choice.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tuner/backend/traits.hpp>
#include <tuner/error.hpp>

namespace tuner {
namespace {

DeviceChoice choose_gpu(int ordinal, std::string reason) {
  const std::string none = why_no_gpu();
  if (!none.empty())
    throw Error(ErrorCode::not_found, "no GPU to use: " + none + ". Use --device host to run on the CPU.");
  if (ordinal >= gpu_count()) {
    throw Error(ErrorCode::not_found, "there is no GPU " + std::to_string(ordinal) + ": this machine has " +
                                          std::to_string(gpu_count()) + ", numbered from 0 (tune devices lists them)");
  }
  return {find_device(kCudaBackend, ordinal), std::move(reason)};
}

}  // namespace

std::optional<int> gpu_ordinal(std::string_view text) {
  int ordinal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  if (error != std::errc{} || end != text.data() + text.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

bool is_device_name(std::string_view text) {
  return text == "auto" || text == kHostBackend || text == kCudaBackend || gpu_ordinal(text);
}

DeviceChoice choose_device(std::string_view device) {
  if (device == kHostBackend) return {find_device(kHostBackend), "selected with --device"};
  if (device == kCudaBackend) return choose_gpu(0, "selected with --device");
  if (const auto ordinal = gpu_ordinal(device)) return choose_gpu(*ordinal, "selected with --device");
  if (device != "auto") {
    throw Error(ErrorCode::invalid_argument,
                "unknown device '" + std::string(device) +
                    "': it is auto, host, cuda or the number of a GPU (tune devices); `tune` takes several numbers, "
                    "separated by commas, and all");
  }
  const std::string none = why_no_gpu();
  if (!none.empty()) return {find_device(kHostBackend), "no GPU to use: " + none};
  return choose_gpu(
      0, gpu_count() == 1 ? "the GPU of this machine" : "the first of " + std::to_string(gpu_count()) + " GPUs");
}

std::string ordinals_text(const DeviceKey& kind, const std::vector<int>& devices) {
  const bool is_gpu = traits(kind).is_gpu;
  return fmt::format("{}{} {}", is_gpu ? "GPU" : "host", is_gpu && devices.size() > 1 ? "s" : "",
                     fmt::join(devices, ", "));
}

std::string key_difference(const std::string& a, const std::string& b) {
  std::istringstream words_a(a), words_b(b);
  std::string only_a, only_b;
  for (std::string one, other; words_a >> one && words_b >> other;) {
    if (one == other) continue;
    only_a += (only_a.empty() ? "" : " ") + one;
    only_b += (only_b.empty() ? "" : " ") + other;
  }
  return only_a + " and " + only_b;
}

std::vector<DeviceChoice> choose_each(std::string_view devices) {
  std::vector<DeviceChoice> chosen;
  if (devices == "all") {
    chosen.push_back(choose_gpu(0, fmt::format("all {} GPUs", std::max(gpu_count(), 0))));
    for (int i = 1; i < gpu_count(); ++i) chosen.push_back(choose_gpu(i, chosen.front().reason));
    return chosen;
  }
  for (std::size_t begin = 0; begin <= devices.size();) {
    const std::size_t end = std::min(devices.find(',', begin), devices.size());
    chosen.push_back(choose_device(devices.substr(begin, end - begin)));
    const Device& last = chosen.back().device;
    for (std::size_t i = 0; i + 1 < chosen.size(); ++i)
      if (chosen[i].device.key.backend == last.key.backend && chosen[i].device.index == last.index)
        throw Error(fmt::format("device '{}' names {} twice", devices, last.name));
    begin = end + 1;
  }
  return chosen;
}

DeviceChoice join_choices(std::vector<DeviceChoice> devices, std::string_view names) {
  DeviceChoice all = std::move(devices.front());
  for (std::size_t i = 1; i < devices.size(); ++i) {
    if (devices[i].device.key != all.device.key)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("device '{}' names devices of different kinds ({}): give each kind its own command",
                              names, key_difference(all.device.key.text(), devices[i].device.key.text())));
    all.more.push_back(devices[i].device.index);
  }
  return all;
}

DeviceChoice choose_devices(std::string_view devices) { return join_choices(choose_each(devices), devices); }

}  // namespace tuner
