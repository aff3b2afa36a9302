#pragma once
/// A part of a kernel's search space: some parameters at one value, others free. What the text-books' tables show.

#include <string>
#include <vector>

#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// \p spec with \p fixed parameters at their values and, unless \p vary is empty, every parameter that is in neither at
/// its default. Constraints, launches and everything else stay as they are. Throws Error for a name that is no
/// parameter (with a suggestion), a value that it may not have, a parameter in both, and one that needs a default and
/// has none.
KernelSpec sub_space(const KernelSpec& spec, const Configuration& fixed, const std::vector<std::string>& vary);

/// A configuration that cannot run, and why.
struct Impossible {
  Configuration configuration;
  std::string reason;
};
/// The combinations of values that are not valid for \p size, in the order of parameters and values; empty where there
/// are more than \p most combinations.
std::vector<Impossible> impossible_configurations(const KernelSpec& spec, const ProblemSize& size,
                                                  const DeviceLimits& limits, std::size_t most = 100'000);

}  // namespace tuner
