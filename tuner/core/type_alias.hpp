#pragma once
/// Finds aliases of types in a kernel's text. Private to this room.

#include <string>
#include <string_view>

namespace tuner {

/// The type that \p type stands for in \p code (code_of() of a text), by `typedef float real;`, `using real = float;`
/// or
/// `#define real float`. Aliases of aliases are followed. Returns \p type itself if it is not an alias, or if the
/// preprocessor or a namespace decides: it has several meanings, or a directive asks whether it is defined.
std::string without_aliases(std::string_view code, std::string type);

}  // namespace tuner
