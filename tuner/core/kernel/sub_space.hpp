#pragma once
/// A part of a kernel's search space, as in the textbooks' tables: some parameters have one value, others are free.

#include <string>
#include <vector>

namespace tuner {

class Configuration;
struct KernelSpec;

/// \p spec with the parameters of \p fixed at their values. If \p vary is not empty, parameters in neither of both get
/// their default. Everything else stays the same. Throws Error for an unknown parameter (with a suggestion), a value
/// that it does not have, a parameter in both, and a missing default.
KernelSpec sub_space(const KernelSpec& spec, const Configuration& fixed, const std::vector<std::string>& vary);

}  // namespace tuner
