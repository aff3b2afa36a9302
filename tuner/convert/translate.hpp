#pragma once
/// Python's expressions as kernel files write them.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tuner/convert/python.hpp>

namespace tuner::convert {

/// What the names of an expression stand for.
struct Meaning {
  /// The name in the kernel file of a name in Python; nothing: not known.
  std::function<std::optional<std::string>(const std::string&)> name;
  /// Names whose values are constants: what folds into numbers (`max(filter_width)`, of all its values).
  python::Names constants = {};
  std::set<std::string> sizes = {};       ///< names of what is never negative
  std::vector<std::string> problem = {};  ///< names of the sizes that `ProblemSize[i]` stands for
};

/// Exactly: `/` divides into fractions, which are kept as such until they are compared or rounded; rounding what may be
/// negative for values that the names have is refused, and so is dividing by it, and so are truth values of numbers
/// other than 0 and 1 in arithmetic. Throws python::NotUnderstood for what kernel files cannot say.
std::string translate(const python::Node& tree, const Meaning& meaning);
/// The text of one expression.
std::string translate(std::string_view text, const Meaning& meaning);
/// A list of conditions that together mean \p tree: its operands, where it is a conjunction.
std::vector<std::string> translate_conditions(const python::Node& tree, const Meaning& meaning);

}  // namespace tuner::convert
