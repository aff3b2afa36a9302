#pragma once
/// The backends of this build: the one place that knows them by name. Whoever is given a Backend need not ask which.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/gpu.hpp>

namespace tuner {

/// Whether there is a driver and a device. Throws Error in a process that was forked from a user of CUDA.
bool gpu_available();
/// How many GPUs there are to use.
int gpu_count();
/// Why there is no GPU to use: "libcuda.so.1 not found: no NVIDIA driver is installed"; empty when there is one.
std::string why_no_gpu();

/// Device \p index of \p backend ("cuda" or "host", which has one device). Asks drivers but opens nothing. Throws Error
/// when there is none. \p compiler: its environment names the compiler, which takes a while to find out on a GPU.
Device find_device(std::string_view backend, int index = 0, bool compiler = true);
/// All devices of this machine: GPUs in order, then the host.
std::vector<Device> list_devices();

/// Where the GPU \p device is plugged in ("0000:1b:00.0"): tells two apart that two processes both number 0. Empty for
/// the host.
std::string address_of(const Device& device);

/// Opens \p device in this process (a GPU: its primary context). Throws Error.
std::unique_ptr<Backend> open_backend(const Device& device, OwnKernels own = OwnKernels::when_needed);
/// Opens \p context, which is current on this thread and must stay alive. Throws Error.
std::unique_ptr<Backend> open_backend(const ContextName& context);
/// The compiler of \p backend alone; opens no device. Throws Error.
std::unique_ptr<Compiler> open_compiler(std::string_view backend);
/// Names the part of every image of \p backend that is tuner's own. Request, compiler and this decide an image.
std::string own_part_of_images(std::string_view backend);

/// For each of \p metrics (names as in CountRequest, or of the energy sensor's) why it cannot be measured on \p device;
/// empty where nothing is known against it. Opens no context.
std::vector<std::string> why_not_measurable(const Device& device, std::span<const std::string> metrics);

}  // namespace tuner
