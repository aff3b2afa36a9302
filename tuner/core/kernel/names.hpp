#pragma once
/// Rules for names in kernel files.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/expression/expression_names.hpp>

namespace tuner {

struct KernelSpec;

/// Why \p name cannot be the name of something that expressions use: it is a keyword, a function, a type or a device
/// limit. Empty if it can.
std::string name_problem(std::string_view name);
/// \p name, with a `_` at its end if it cannot name anything otherwise.
std::string possible_name(const std::string& name);

/// The names of the device's limits in expressions, such as `warp_size`.
const std::vector<std::string>& device_limit_names();

/// The names for expressions of \p spec: sizes, choices, types, device limits and parameters.
KnownNames known_names(const KernelSpec& spec);

}  // namespace tuner
