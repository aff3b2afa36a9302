#pragma once
/// Classes of characters, and numbers, in text. The functions of <cctype> are not used: they depend on the locale and
/// are undefined for negative chars.

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tuner {

/// White space within a line.
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
/// White space, line ends included: an expression may continue on the next line.
inline bool is_space(char c) { return is_blank(c) || c == '\n'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_word(char c) { return is_word_start(c) || is_digit(c); }

/// Whether \p text consists of ASCII letters, digits and underscores and does not begin with a digit.
inline bool is_identifier(std::string_view text) {
  return !text.empty() && is_word_start(text.front()) && std::ranges::all_of(text, is_word);
}

/// The first place from \p at on that has one of \p wanted; npos if there is none. The functions of the standard
/// library search for a set of characters with one call of memchr for each character of the text.
template <char... wanted>
std::size_t find_any(std::string_view text, std::size_t at) {
  while (at < text.size() && !((text[at] == wanted) || ...)) ++at;
  return at < text.size() ? at : std::string_view::npos;
}

/// \p text without the white space at its ends.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The number that is the whole of \p text; nothing if \p text is anything else.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace tuner
