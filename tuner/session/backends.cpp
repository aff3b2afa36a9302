#include <tuner/session/backends.hpp>

#include <charconv>

#include <tuner/backend/traits.hpp>
#include <tuner/core/error.hpp>

namespace tuner {
namespace {

DeviceChoice choose_gpu(int ordinal, std::string reason) {
  const std::string none = why_no_gpu();
  if (!none.empty()) throw Error("no GPU to use: " + none + ". Use --device host to run on the CPU.");
  if (ordinal >= gpu_count()) {
    throw Error("there is no GPU " + std::to_string(ordinal) + ": this machine has " + std::to_string(gpu_count()) +
                ", numbered from 0 (tune devices lists them)");
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

DeviceChoice choose_device(std::string_view device) {
  if (device == kHostBackend) return {find_device(kHostBackend), "asked for"};
  if (device == kCudaBackend) return choose_gpu(0, "asked for");
  if (const auto ordinal = gpu_ordinal(device)) return choose_gpu(*ordinal, "asked for");
  if (device != "auto") {
    throw Error("unknown device '" + std::string(device) +
                "': it is auto, host, cuda or the number of a GPU (tune devices)");
  }
  const std::string none = why_no_gpu();
  if (!none.empty()) return {find_device(kHostBackend), "no GPU to use: " + none};
  return choose_gpu(
      0, gpu_count() == 1 ? "the GPU of this machine" : "the first of " + std::to_string(gpu_count()) + " GPUs");
}

void measure_ceilings(Device& device) {
  const std::unique_ptr<Backend> backend = open_backend(device);
  backend->measure_ceilings();
  device.ceilings = backend->device().ceilings;
  device.peaks = backend->device().peaks;
}

}  // namespace tuner
