#pragma once
/// Explains a space without valid configurations.

#include <string>

#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// Names the constraint or limit that rules out most configurations of a sample, with an example.
std::string explain_empty_space(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);

}  // namespace tuner
