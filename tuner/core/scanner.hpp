#pragma once
/// Takes C++ text apart as far as that is possible without a compiler: comments and literals, directives, words and
/// brackets. Everything that reads such text builds on this. Places are offsets; npos: there is no such place.

#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// A comment or a literal.
struct Aside {
  enum class Kind { line_comment, block_comment, literal, raw_literal };
  Kind kind = Kind::literal;
  std::size_t begin = 0;
  std::size_t end = 0;    ///< a comment of a line ends before its line end
  bool is_closed = true;  ///< false: the text ends first, or the literal's line
};
/// The first one of \p text from \p from on, where code stands. A literal that is not raw ends with its line at the
/// latest: apostrophes also occur where no literal is meant, as in `#error don't`.
std::optional<Aside> next_aside(std::string_view text, std::size_t from);

enum class Literals { blank, kept };
/// \p text with blanks for its comments and literals; everything keeps its place, the ends of lines too. Raw literals
/// are always blank.
std::string code_of(std::string_view text, Literals literals = Literals::blank);

/// Length of the continuation (backslash, end of line) at \p at; 0 when there is none.
std::size_t continuation_at(std::string_view text, std::size_t at);

/// A directive of the preprocessor.
struct DirectiveLine {
  std::size_t begin = 0;            ///< of its `#`
  std::size_t end = 0;              ///< before the end of the last line that it is continued on
  std::string text;                 ///< after the `#`, lines joined, without blanks at its ends
  std::vector<std::size_t> places;  ///< of each character of `text`

  std::string_view name() const;  ///< `define`
  std::string_view rest() const;  ///< after that
};
/// The one whose `#` is at \p at of \p code (code_of() of a text); nothing where none begins.
std::optional<DirectiveLine> directive_at(std::string_view code, std::size_t at);
/// All of them.
std::vector<DirectiveLine> directives_of(std::string_view code);

/// \p at, or the next place that is no white space; the end of \p code where only that follows.
std::size_t skip_space(std::string_view code, std::size_t at);
/// \p code up to \p end, without white space there.
std::string_view before_space(std::string_view code, std::size_t end);
/// The word that begins at \p at, or ends before \p end. A number counts as one; empty: there is none.
std::string_view word_at(std::string_view code, std::size_t at);
std::string_view word_before(std::string_view code, std::size_t end);
/// Where \p word stands alone, from \p from on.
std::size_t find_word(std::string_view code, std::string_view word, std::size_t from = 0);
bool has_word(std::string_view code, std::string_view word);
/// Whether \p word stands in \p source other than in comments, literals and `#pragma tuner` lines.
bool occurs_in_code(std::string_view source, std::string_view word);
/// \p code (code_of() of a text) with its `#pragma tuner` lines as blanks.
std::string without_tuner_lines(std::string code);
/// The words of \p text, in order, without numbers: pieces of it, which a string that ends with the call would take
/// with it.
std::vector<std::string_view> words_of(std::string_view text);
template <std::same_as<std::string> Temporary>
void words_of(Temporary&& text) = delete;
/// \p text with each word of \p values replaced by its value.
std::string substitute_words(std::string_view text, const std::map<std::string, std::string, std::less<>>& values);

/// After the bracket that closes the one at \p open; npos where none does within \p longest characters.
std::size_t after_brackets(std::string_view code, std::size_t open, std::size_t longest = std::string_view::npos);
/// After the angle that closes the one at \p open, `<<` and brackets passed over; npos where none does.
std::size_t after_angles(std::string_view code, std::size_t open);
/// The parts of \p list between its commas. Commas in brackets do not count, nor do those in `<>` outside of all
/// brackets: `layout<a, b>` is one part. With \p compares, `<` and `>` are operators: `a < b, c > d` is two.
std::vector<std::string_view> at_commas(std::string_view list, bool compares = false);

}  // namespace tuner
