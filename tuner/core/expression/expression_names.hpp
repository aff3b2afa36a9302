#pragma once
/// Checks the names in expressions. Private to this room.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tuner/core/expression/expression.hpp>

namespace tuner {

/// Says whether a name in an expression is a number or one of some words.
struct NameKind {
  bool is_word = false;
  std::vector<std::string> words;  ///< that it may be compared with
};
using KnownNames = std::map<std::string, NameKind, std::less<>>;

/// Throws SpecError at the first name that is not in \p known. Also for a word where a number is needed, and for a word
/// that is compared with a value that it never has.
void check_names(const Expression& expression, const KnownNames& known);

/// The message about \p name, which is not one of \p names.
std::string unknown_name(const std::string& name, const std::vector<std::string>& names);

}  // namespace tuner
