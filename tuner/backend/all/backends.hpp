#pragma once
/// The backends of this build. Only this file knows them by name; all other code uses the interface Backend.

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/gpu.hpp>

namespace tuner {

/// Whether there is a driver and a device. Throws Error in a process that was forked from one that had used CUDA, and
/// Passing when the driver cannot be used now.
bool gpu_available();
/// The number of usable GPUs.
int gpu_count();
/// Why there is no usable GPU: "libcuda.so.1 not found: no NVIDIA driver is installed"; empty if there is one.
std::string why_no_gpu();

/// Device \p index of \p backend ("cuda", or "host", which has one device). Asks drivers but opens nothing. Throws
/// Error if there is no such device. \p compiler: find out the compiler for Device::environment, which is slow for a
/// GPU. \p warn: HostOptions::warn, here and below.
Device find_device(std::string_view backend, int index = 0, bool compiler = true, const Warn& warn = {});
/// All devices of this machine: GPUs in order, then the host.
std::vector<Device> list_devices();

/// The PCI address of the GPU \p device ("0000:1b:00.0"). It identifies a GPU even if processes number GPUs
/// differently. Empty for the host.
std::string address_of(const Device& device);

/// Opens \p device in this process; a GPU with its primary context. Throws Error.
std::unique_ptr<Backend> open_backend(const Device& device, PreloadedKernels preloaded = PreloadedKernels::none,
                                      const Warn& warn = {});
/// Opens \p context, which is current on this thread and must stay alive. Throws Error.
std::unique_ptr<Backend> open_backend(const ContextName& context);
/// Measures the ceilings and peaks of \p device and stores them in it. Takes about a tenth of a second.
void measure_ceilings(Device& device);
/// The folders of CUDA's toolkits on this machine, best first. They need not exist.
std::vector<std::filesystem::path> toolkit_folders();
/// The compute capabilities of this machine's GPUs, in order: 90 for 9.0.
std::vector<int> compute_capabilities();
/// The compiler of \p backend, for \p gpus. Opens no device; without \p gpus asks the driver for them. Throws Error.
/// \p is_alone: this process compiles one program at a time, many of them, and may therefore precompile headers.
std::unique_ptr<Compiler> open_compiler(std::string_view backend, const std::vector<int>& gpus = {},
                                        const Warn& warn = {}, bool is_alone = false);
/// Identifies the code of tuner's that is part of every image of \p backend. An image depends on the request, the
/// compiler and this.
std::string own_part_of_images(std::string_view backend);

/// For each of \p metrics (names as in CountRequest, or of the energy sensor's metrics): why it cannot be measured on
/// \p device; empty if no reason is known. Opens no context.
std::vector<std::string> why_not_measurable(const Device& device, std::span<const std::string> metrics);

}  // namespace tuner
