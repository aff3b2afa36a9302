#pragma once
/// The configuration of a problem of which nothing is known.

#include <chrono>

#include <tuner/core/device/device.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

/// The default of \p spec if it is valid, else the first valid configuration. Throws Error if it finds no valid one
/// within \p patience.
Configuration unmeasured_configuration(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                       std::chrono::duration<double> patience);

}  // namespace tuner
