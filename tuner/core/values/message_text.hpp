#pragma once
/// Parts of messages: suggestions for misspelt names, and text from outside (files, databases, compilers), which is
/// quoted so that it sends no control characters to a terminal.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// The candidate that is nearest to \p name by edit distance, if \p name may be a misspelling of it.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// `; did you mean 'name'?`, or nothing if no candidate is near.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

/// `unknown WHAT 'NAME'; did you mean 'X'? Known: X, Y.`
std::string unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

/// \p text, with `\xNN` or `\uNNNN` for control characters (also line ends), for bytes that are not UTF-8 and for marks
/// that change the direction of writing.
std::string printable(std::string_view text);
/// The same, but keeps line ends and tabs: for text of several lines, such as a compiler's log.
std::string printable_lines(std::string_view text);
/// `'text'`, printable, and cut off if it is long.
std::string in_quotes(std::string_view text);

/// \p text as one word of a shell's command: in quotes if a shell would otherwise divide or change it.
std::string shell_word(std::string_view text);

/// The number of bytes of the UTF-8 character at the start of \p text, which is not empty; 0 if it is not UTF-8.
std::size_t utf8_length(std::string_view text);

/// \p text up to its first line end.
std::string first_line(std::string_view text);

/// Whether \p message of a compiler (NVRTC, g++, clang++) says that a file does not exist that the text includes.
bool misses_a_file(std::string_view message);
/// Ends such messages.
inline constexpr std::string_view kNameItsFolder =
    ": name its folder in a line '#pragma tuner include_path \"FOLDER\"', or get the file";

/// \p message, which ends with kNameItsFolder, with the names of \p others that are missing too.
std::string with_other_missing(std::string message, const std::vector<std::string>& others);

}  // namespace tuner
