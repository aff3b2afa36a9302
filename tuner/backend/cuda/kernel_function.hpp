#pragma once
/// A kernel of a loaded module, with what the driver says about it and what a launch of it must respect.

#include <optional>
#include <string>

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

/// Why \p shape cannot be launched: a device limit, launch bounds, shared memory, registers. Nothing when it can.
std::optional<std::string> why_not_launchable(const KernelFunction& kernel, const LaunchShape& shape,
                                              const DeviceLimits& limits);

/// Opts in to \p dynamic_bytes of dynamic shared memory where that passes the default limit; does nothing otherwise.
/// Needed once for a function, before its first such launch. Throws CudaError.
void allow_shared_memory(const KernelFunction& kernel, std::int64_t dynamic_bytes, const DeviceLimits& limits);

}  // namespace tuner::cuda
