#pragma once
/// Quotes text from outside (files, databases, compilers) in messages, so that it sends no control characters to a
/// terminal.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/suggestion.hpp>

namespace tuner {

/// `unknown WHAT 'NAME'; did you mean 'X'? Known: X, Y.`
std::string unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

/// \p text, with `\xNN` or `\uNNNN` for control characters (also line ends), for bytes that are not UTF-8 and for marks
/// that change the direction of writing.
std::string printable(std::string_view text);
/// The same, but keeps line ends and tabs: for text of several lines, such as a compiler's log.
std::string printable_lines(std::string_view text);
/// `'text'`, printable, and cut off if it is long.
std::string in_quotes(std::string_view text);

/// The number of bytes of the UTF-8 character at the start of \p text, which is not empty; 0 if it is not UTF-8.
std::size_t utf8_length(std::string_view text);

/// \p text up to its first line end.
std::string first_line(std::string_view text);

}  // namespace tuner
