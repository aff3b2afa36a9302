#pragma once
/// Rules for names in kernel files.

#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// Whether \p text consists of ASCII letters, digits and underscores and does not begin with a digit.
bool is_identifier(std::string_view text);

/// Why \p name cannot be the name of something that expressions use: it is a keyword, a function, a type or a device
/// limit. Empty if it can.
std::string name_problem(std::string_view name);
/// \p name, with a `_` at its end if it cannot name anything otherwise.
std::string possible_name(const std::string& name);

/// Whether C++20 reserves \p name: a keyword, or a word for an operator such as `xor`.
bool is_word_of_cpp(std::string_view name);

/// The names of the device's limits in expressions, such as `warp_size`.
const std::vector<std::string>& device_limit_names();

}  // namespace tuner
