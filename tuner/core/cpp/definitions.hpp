#pragma once
/// Finds where a text gives a name its value, `#define TILE 16` or `constexpr int TILE = 16;`, so that a parameter can
/// take its place.

#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct DefinedValue {
  std::size_t begin = 0, end = 0;  ///< of the directive, or of the declaration with its `;`
  std::string value;               ///< as it is written
  bool is_only = true;             ///< whether no other name has the same declaration
};

/// The definitions of \p name in \p code (code_of() of a text): macros without arguments, and constants that are the
/// only ones of their declaration, in any scope.
std::vector<DefinedValue> definitions_of(std::string_view code, std::string_view name);
/// The same with constants of declarations that have several: `const int a = 1, b = 2;`.
std::vector<DefinedValue> values_of(std::string_view code, std::string_view name);

/// \p text with blanks in place of the definitions_of() all \p names; lines keep their places.
std::string without_definitions(std::string text, const std::vector<std::string_view>& names);

}  // namespace tuner
