#pragma once
/// The space a tuning would search: parameters, constraints, how many combinations there are and how many are valid.

#include <string>

#include <tuner/cli/json.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner::cli {

std::string space_text(const KernelSpec& spec, const ProblemSize& size, const Device& device);
Json json_space(const KernelSpec& spec, const ProblemSize& size, const Device& device);

}  // namespace tuner::cli
