#pragma once
/// Translates Python expressions to those of kernel files.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tuner/convert/python.hpp>

namespace tuner::convert {

/// The meaning of the names in an expression.
struct Meaning {
  /// The name in the kernel file for a Python name; nullopt: unknown.
  std::function<std::optional<std::string>(const std::string&)> name;
  /// Names with constant values, for `max(filter_width)` over all values and other constant expressions.
  python::Names constants = {};
  std::set<std::string> sizes = {};       ///< names of values that are never negative
  std::vector<std::string> problem = {};  ///< names of the sizes that `ProblemSize[i]` means
};

/// Translates exactly. `/` gives a fraction, which is kept until it is compared or rounded. Throws
/// python::NotUnderstood for what kernel files cannot express. That includes rounding a value, or dividing by a value,
/// that may be negative, and arithmetic with truth values of numbers other than 0 and 1.
std::string translate(const python::Node& tree, const Meaning& meaning);
/// The same for a text with one expression.
std::string translate(std::string_view text, const Meaning& meaning);
/// The conditions that together mean \p tree: the operands of a conjunction.
std::vector<std::string> translate_conditions(const python::Node& tree, const Meaning& meaning);

}  // namespace tuner::convert
