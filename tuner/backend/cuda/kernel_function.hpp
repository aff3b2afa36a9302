#pragma once
/// A kernel of a loaded module, with what the driver says about it and what a launch of it must respect.

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
  int max_threads_per_block = 0;  ///< by its registers and launch bounds
};

/// \p symbol: lowered name. In the module's context. Throws CudaError.
KernelFunction get_function(CUmodule module, const std::string& symbol);
/// The same of a variable.
Variable get_variable(CUmodule module, const std::string& symbol);

/// Why \p shape cannot be launched: a device limit, launch bounds, shared memory, registers, a cooperative grid that is
/// not resident. Nothing when it can.
std::optional<std::string> why_not_launchable(const KernelFunction& kernel, const LaunchShape& shape,
                                              const DeviceLimits& limits);

/// Enqueues \p kernel on \p stream, a cooperative shape by cuLaunchCooperativeKernel: older than any driver that is
/// used, and captured like any other launch. \p arguments as cuLaunchKernel takes them. No check of \p shape.
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

/// Opts in to \p dynamic_bytes of dynamic shared memory where that passes the default limit; does nothing otherwise.
/// Needed once for a function, before its first such launch. Throws CudaError.
void allow_shared_memory(const KernelFunction& kernel, std::int64_t dynamic_bytes, const DeviceLimits& limits);

}  // namespace tuner::cuda
