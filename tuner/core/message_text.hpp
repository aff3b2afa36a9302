#pragma once
/// How messages quote text from outside: nothing that others wrote (files, databases, compilers) reaches a terminal as
/// control characters.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/suggestion.hpp>

namespace tuner {

/// `unknown WHAT 'NAME'; did you mean 'X'? Known: X, Y.`
std::string unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

/// \p text with control characters (line ends too), bytes that are no UTF-8 and marks that turn the direction of
/// writing as `\xNN` and `\uNNNN`.
std::string printable(std::string_view text);
/// The same with line ends and tabs kept: for text of several lines, such as a compiler's log.
std::string printable_lines(std::string_view text);
/// `'text'`, printable, and cut when it is long.
std::string in_quotes(std::string_view text);

/// \p text up to its first line end.
std::string first_line(std::string_view text);

}  // namespace tuner
