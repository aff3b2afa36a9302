#pragma once
/// A part of a kernel's search space, as in the textbooks' tables: some parameters have one value, others are free.

#include <string>
#include <vector>

#include <tuner/core/device/device.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

/// \p spec with the parameters of \p fixed at their values. If \p vary is not empty, parameters in neither of both get
/// their default. Everything else stays the same. Throws Error for an unknown parameter (with a suggestion), a value
/// that it does not have, a parameter in both, and a missing default.
KernelSpec sub_space(const KernelSpec& spec, const Configuration& fixed, const std::vector<std::string>& vary);

/// A configuration that cannot run, and why.
struct Impossible {
  Configuration configuration;
  std::string reason;
};
/// The combinations of values that are not valid for \p size, in the order of parameters and values; empty if there are
/// more than \p most combinations.
std::vector<Impossible> impossible_configurations(const KernelSpec& spec, const ProblemSize& size,
                                                  const DeviceLimits& limits, std::size_t most = 100'000);

}  // namespace tuner
