#pragma once
/// Other names that a kernel's text gives to types. Private to this room.

#include <string>
#include <string_view>

namespace tuner {

/// What \p type means in \p code (code_of() of a text): what `typedef float real;`, `using real = float;` or
/// `#define real float` say of it, and of that in turn. \p type itself where nothing is said, or not the same
/// everywhere, or a directive asks whether it is defined: what holds is then up to the preprocessor, or a namespace.
std::string without_aliases(std::string_view code, std::string type);

}  // namespace tuner
