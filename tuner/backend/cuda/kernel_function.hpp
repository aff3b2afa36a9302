#pragma once
/// A kernel of a loaded module, with its resources and the limits of its launches.

#include <optional>
#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/core/launch_shape.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner::cuda {

struct KernelFunction {
  CUfunction handle = nullptr;
  Resources resources;            ///< registers, local memory (stack_bytes), static shared, constant; no spills
  int max_threads_per_block = 0;  ///< from its registers and launch bounds
};

/// The kernel with the lowered name \p symbol. The module's context must be current. Throws CudaError.
KernelFunction get_function(CUmodule module, const std::string& symbol);
/// The same for a variable.
Variable get_variable(CUmodule module, const std::string& symbol);

/// Why \p shape cannot be launched: a device limit, launch bounds, shared memory, registers, or a cooperative grid that
/// does not fit onto the device at once. nullopt: it can.
std::optional<std::string> why_not_launchable(const KernelFunction& kernel, const LaunchShape& shape,
                                              const DeviceLimits& limits);

/// Enqueues \p kernel on \p stream. A cooperative shape uses cuLaunchCooperativeKernel, which every supported driver
/// has and which can be captured. \p arguments: as for cuLaunchKernel. Does not check \p shape.
inline CUresult launch_kernel(CUfunction kernel, const LaunchShape& shape, void** arguments, CUstream stream) {
  const auto grid = [&](std::size_t d) { return static_cast<unsigned>(shape.grid[d]); };
  const auto block = [&](std::size_t d) { return static_cast<unsigned>(shape.block[d]); };
  const auto shared = static_cast<unsigned>(shape.shared_bytes);
  if (shape.cooperative) {
    return driver().cuLaunchCooperativeKernel(kernel, grid(0), grid(1), grid(2), block(0), block(1), block(2), shared,
                                              stream, arguments);
  }
  return driver().cuLaunchKernel(kernel, grid(0), grid(1), grid(2), block(0), block(1), block(2), shared, stream,
                                 arguments, nullptr);
}

/// Allows \p dynamic_bytes of dynamic shared memory, which a function needs once before its first launch with more than
/// the default limit. Does nothing if the default limit is enough. Throws CudaError.
void allow_shared_memory(const KernelFunction& kernel, std::int64_t dynamic_bytes, const DeviceLimits& limits);

}  // namespace tuner::cuda
