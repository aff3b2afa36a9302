#include <tuner/backend/all/backends.hpp>

#include <filesystem>
#include <functional>
#include <utility>

#include <tuner/backend/host/compile/compiler.hpp>
#include <tuner/backend/host/compile/process.hpp>
#include <tuner/backend/host/host_backend.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/error.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/compile/nvrtc_compiler.hpp>
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/driver/discovery.hpp>
#include <tuner/backend/cuda/driver/toolkit.hpp>
#include <tuner/backend/cuda/observe/chip_metrics.hpp>
#include <tuner/backend/cuda/observe/energy.hpp>
#endif
#include <tuner/core/device/metric.hpp>
#include <tuner/core/values/passing.hpp>

namespace tuner {
namespace {

#ifdef TUNER_HAS_CUDA
constexpr std::string_view kKnown = "there are cuda and host";
#else
constexpr std::string_view kKnown = "this program was built without CUDA headers and has only host";
#endif

/// The functions of a backend that need no open device.
struct Kind {
  std::string_view name;
  Device (*device)(int index, bool compiler, const Warn& warn);
  std::unique_ptr<Backend> (*open)(int index, PreloadedKernels preloaded, const Warn& warn);
  std::unique_ptr<Compiler> (*compiler)(const std::vector<int>& gpus, const Warn& warn, bool is_alone);
  std::string (*own_part)();
};

HostOptions warning(const Warn& warn) {
  HostOptions options;
  options.warn = warn;
  return options;
}

#ifdef TUNER_HAS_CUDA
/// Makes a private folder, which exists as long as the result, and returns its path.
std::function<std::filesystem::path()> folder() {
  return [made = std::shared_ptr<host::PrivateDirectory>()]() mutable {
    made = std::make_shared<host::PrivateDirectory>();
    return made->path();
  };
}
#endif

constexpr Kind kKinds[] = {
    {kHostBackend, [](int, bool, const Warn& warn) { return host_device(warning(warn)); },
     [](int, PreloadedKernels, const Warn& warn) { return make_host_backend(warning(warn)); },
     [](const std::vector<int>&, const Warn& warn, bool) { return make_host_compiler(warning(warn)); },
     [] { return std::string(); }},
#ifdef TUNER_HAS_CUDA
    {kCudaBackend, [](int index, bool compiler, const Warn&) { return cuda::query_device(index, compiler); },
     [](int index, PreloadedKernels preloaded, const Warn&) {
       return make_cuda_backend({.device = index, .preloaded = preloaded});
     },
     [](const std::vector<int>& gpus, const Warn&, bool is_alone) {
       return cuda::make_nvrtc_compiler(
           cuda::nvrtc(gpus), is_alone ? cuda::NvrtcOptions{.folder_of_headers = folder()} : cuda::NvrtcOptions{});
     },
     &cuda::own_part_of_images},
#endif
};

#ifdef TUNER_HAS_CUDA
template <typename T>
T taken(std::variant<T, Unavailable> result) {
  if (const auto* const why = std::get_if<Unavailable>(&result)) throw Error(why->reason);
  return std::get<T>(std::move(result));
}

/// Throws Error if the counters of GPU \p index cannot be read.
std::unique_ptr<cuda::ChipMetrics> readable_chip(int index) {
  if (const std::string why = cuda::why_not_permitted(); !why.empty()) throw Error(why);
  return taken(cuda::chip_metrics(taken(cuda::chip_of_device(index))));
}

/// The message of the Error that \p work throws; empty if it throws none.
template <typename Work>
std::string why_not(Work work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<std::string> why_gpu_cannot(int index, std::span<const std::string> metrics) {
  std::unique_ptr<cuda::ChipMetrics> chip;
  std::optional<std::string> no_counters;  // once it is known
  std::vector<std::string> reasons;
  for (const std::string& metric : metrics) {
    std::string& why = reasons.emplace_back();
    const MetricSource source = source_of(metric);
    if (source == MetricSource::sensor)
      why = why_not([&] { taken(cuda::open_energy_sensor(cuda::pci_address(cuda::device_handle(index)))); });
    if (source != MetricSource::counters) continue;
    if (!no_counters) no_counters = why_not([&] { chip = readable_chip(index); });
    why = chip == nullptr ? *no_counters : why_not([&] { taken(chip->plan({&metric, 1})); });
  }
  return reasons;
}
#endif

const Kind& kind_of(std::string_view backend) {
  for (const Kind& kind : kKinds)
    if (kind.name == backend) return kind;
  throw Error("unknown backend '" + std::string(backend) + "'; " + std::string(kKnown));
}

}  // namespace

#ifdef TUNER_HAS_CUDA

bool gpu_available() {
  const cuda::DriverStatus status = cuda::driver_status();
  if (status.forked) throw Error(ErrorCode::context_lost, status.reason);
  if (status.passing) throw Passing(ErrorCode::device, "the CUDA driver cannot be used now: " + status.reason);
  return status.available;
}

int gpu_count() {
  const cuda::DriverStatus status = cuda::driver_status();
  return status.available ? status.devices : 0;
}

std::string why_no_gpu() {
  if (const cuda::DriverStatus status = cuda::driver_status(); !status.available) return status.reason;
  if (cuda::find_nvrtc_facts() == nullptr) {
    return "there is a GPU, but no NVRTC to compile for it: install the CUDA toolkit, or set TUNER_NVRTC to "
           "libnvrtc.so";
  }
  return {};
}

std::string address_of(const Device& device) {
  return device.key.backend == kCudaBackend ? cuda::pci_address(cuda::device_handle(device.index)) : std::string();
}

std::unique_ptr<Backend> open_backend(const ContextName& context) {
  return is_host(context) ? make_host_backend() : make_cuda_backend({.use_current_context = true});
}

std::vector<int> compute_capabilities() { return cuda::query_compute_capabilities(); }
std::vector<std::filesystem::path> toolkit_folders() { return cuda::toolkit_folders(); }

#else

bool gpu_available() { return false; }
int gpu_count() { return 0; }
std::string why_no_gpu() {
  return "this tuner was built without the cuda backend (no cuda.h and nvrtc.h were found then)";
}
std::string address_of(const Device&) { return {}; }
std::unique_ptr<Backend> open_backend(const ContextName&) { return make_host_backend(); }
std::vector<int> compute_capabilities() { return {}; }
std::vector<std::filesystem::path> toolkit_folders() { return {}; }

#endif

Device find_device(std::string_view backend, int index, bool compiler, const Warn& warn) {
  return kind_of(backend).device(index, compiler, warn);
}

std::vector<Device> list_devices() {
  std::vector<Device> devices;
  for (int i = 0; i < gpu_count(); ++i) devices.push_back(find_device(kCudaBackend, i));
  devices.push_back(find_device(kHostBackend));
  return devices;
}

std::unique_ptr<Backend> open_backend(const Device& device, PreloadedKernels preloaded, const Warn& warn) {
  return kind_of(device.key.backend).open(device.index, preloaded, warn);
}

void measure_ceilings(Device& device) {
  const std::unique_ptr<Backend> backend = open_backend(device, PreloadedKernels::ceilings);
  backend->measure_ceilings();
  device.ceilings = backend->device().ceilings;
  device.peaks = backend->device().peaks;
}

std::unique_ptr<Compiler> open_compiler(std::string_view backend, const std::vector<int>& gpus, const Warn& warn,
                                        bool is_alone) {
  return kind_of(backend).compiler(gpus, warn, is_alone);
}

std::string own_part_of_images(std::string_view backend) { return kind_of(backend).own_part(); }

std::vector<std::string> why_not_measurable(const Device& device, std::span<const std::string> metrics) {
#ifdef TUNER_HAS_CUDA
  if (device.key.backend == kCudaBackend) return why_gpu_cannot(device.index, metrics);
#endif
  (void)device;
  constexpr const char* kWhere = " on a GPU only; `tune devices` says whether one is here";
  std::vector<std::string> reasons;
  for (const std::string& metric : metrics) {
    const MetricSource source = source_of(metric);
    std::string& why = reasons.emplace_back();
    if (source == MetricSource::sensor) why = std::string("there is an energy sensor") + kWhere;
    if (source == MetricSource::counters) why = std::string("there are hardware counters") + kWhere;
  }
  return reasons;
}

}  // namespace tuner
