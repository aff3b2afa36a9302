#pragma once
/// The space a tuning would search: parameters, constraints, how many combinations there are and how many are valid.

#include <string>

#include <tuner/cli/json.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner::cli {

/// \p stop ends the count of valid configurations; the answer then says how far it got.
std::string space_text(const KernelSpec& spec, const ProblemSize& size, const Device& device, const StopHook& stop);
Json json_space(const KernelSpec& spec, const ProblemSize& size, const Device& device, const StopHook& stop);

}  // namespace tuner::cli
