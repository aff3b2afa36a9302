#pragma once
/// Names that kernels and their files may use.

#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// Letters, digits and underscores of ASCII, no digit first.
bool is_identifier(std::string_view text);

/// Why \p name cannot name a thing that expressions use (a keyword, a function, a type, a device limit); empty when
/// it can.
std::string name_problem(std::string_view name);

/// What expressions call the device's limits, such as `warp_size`.
const std::vector<std::string>& device_limit_names();

}  // namespace tuner
