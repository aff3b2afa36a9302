#include <tuner/session/backends.hpp>

#include <charconv>

#include <tuner/backend/host/host_backend.hpp>
#include <tuner/core/error.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/discovery.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>
#endif

namespace tuner {
namespace {

#ifdef TUNER_HAS_CUDA
int gpu_count() { return cuda::driver_status().available ? cuda::driver_status().devices : 0; }
Device gpu(int ordinal) { return cuda::query_device(ordinal); }
#else
int gpu_count() { return 0; }
Device gpu(int) { throw Error("this tuner was built without the cuda backend"); }
#endif

Device host() { return make_host_backend()->device(); }

std::optional<int> ordinal_of(std::string_view text) {
  int ordinal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  if (error != std::errc{} || end != text.data() + text.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

DeviceChoice choose_gpu(int ordinal, std::string reason) {
  const std::string none = why_no_gpu();
  if (!none.empty()) throw Error("no GPU to use: " + none + ". Use --device host to run on the CPU.");
  if (ordinal >= gpu_count()) {
    throw Error("there is no GPU " + std::to_string(ordinal) + ": this machine has " + std::to_string(gpu_count()) +
                ", numbered from 0 (tune devices lists them)");
  }
  return {gpu(ordinal), std::move(reason)};
}

}  // namespace

std::string why_no_gpu() {
#ifdef TUNER_HAS_CUDA
  if (!cuda::driver_status().available) return cuda::driver_status().reason;
  if (cuda::find_nvrtc() == nullptr) {
    return "there is a GPU, but no NVRTC to compile for it: install the CUDA toolkit, or set TUNER_NVRTC to "
           "libnvrtc.so";
  }
  return {};
#else
  return "this tuner was built without the cuda backend (no cuda.h and nvrtc.h were found then)";
#endif
}

DeviceChoice choose_device(std::string_view device) {
  if (device == "host") return {host(), "asked for"};
  if (device == "cuda") return choose_gpu(0, "asked for");
  if (const auto ordinal = ordinal_of(device)) return choose_gpu(*ordinal, "asked for");
  if (device != "auto") {
    throw Error("unknown device '" + std::string(device) +
                "': it is auto, host, cuda or the number of a GPU (tune devices)");
  }
  const std::string none = why_no_gpu();
  if (!none.empty()) return {host(), "no GPU to use: " + none};
  return choose_gpu(
      0, gpu_count() == 1 ? "the GPU of this machine" : "the first of " + std::to_string(gpu_count()) + " GPUs");
}

std::vector<Device> list_devices() {
  std::vector<Device> devices;
  for (int i = 0; i < gpu_count(); ++i) devices.push_back(gpu(i));
  devices.push_back(host());
  return devices;
}

std::unique_ptr<Backend> open_backend(const Device& device) {
  if (device.key.backend == "host") return make_host_backend();
#ifdef TUNER_HAS_CUDA
  CudaOptions options;
  options.device = device.index;
  return make_cuda_backend(std::move(options));
#else
  throw Error("this tuner was built without the cuda backend");
#endif
}

void measure_ceilings(Device& device) {
  const std::unique_ptr<Backend> backend = open_backend(device);
  backend->measure_ceilings();
  device.read_ceiling = backend->device().read_ceiling;
  device.copy_ceiling = backend->device().copy_ceiling;
}

}  // namespace tuner
