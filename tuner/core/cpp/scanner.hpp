#pragma once
/// Splits C++ text as far as that is possible without a compiler: comments and literals, directives, words and
/// brackets. All code that reads C++ text uses it. Places are offsets; npos means that there is no such place.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

constexpr std::size_t npos = std::string_view::npos;

/// A comment or a literal.
struct NonCode {
  enum class Kind { line_comment, block_comment, literal, raw_literal };
  Kind kind = Kind::literal;
  std::size_t begin = 0;
  std::size_t end = 0;    ///< a line comment ends before its line end
  bool is_closed = true;  ///< false if the text, or the line of a literal, ends first
};
/// The first comment or literal of \p text from \p from on, which must be in code. A literal that is not raw ends with
/// its line at the latest, because of apostrophes as in `#error don't`.
std::optional<NonCode> next_non_code(std::string_view text, std::size_t from);

enum class Literals { blank, kept };
/// \p text with blanks in place of its comments and literals. Everything else, line ends included, keeps its place. Raw
/// literals always become blanks.
std::string code_of(std::string_view text, Literals literals = Literals::blank);

/// Length of the continuation (backslash, line end) at \p at; 0 if there is none.
std::size_t continuation_at(std::string_view text, std::size_t at);

/// A directive of the preprocessor.
struct DirectiveLine {
  /// A part of `text` that has no continuation in it.
  struct Run {
    std::size_t begin = 0;  ///< in `text`
    std::size_t place = 0;
  };
  std::size_t begin = 0;  ///< of its `#`
  std::size_t end = 0;    ///< before the line end of its last line, continuations included
  std::string text;       ///< after the `#`, lines joined, without blanks at its ends
  std::vector<Run> runs;

  std::string_view name() const;  ///< `define`
  std::string_view rest() const;  ///< after the name
};
/// The directive whose `#` is at \p at of \p code (code_of() of a text); nothing if none begins there.
std::optional<DirectiveLine> directive_at(std::string_view code, std::size_t at);
/// The directive whose text has the place \p at.
std::optional<DirectiveLine> directive_around(std::string_view code, std::size_t at);
/// All directives of \p code.
std::vector<DirectiveLine> directives_of(std::string_view code);
/// The name that `#define NAME TEXT` defines; empty for other directives and for macros with arguments.
std::string_view defined_name(const DirectiveLine& line);

/// The first place from \p at on that is not white space; the end of \p code if there is none.
std::size_t skip_space(std::string_view code, std::size_t at);
/// \p code up to \p end, without white space at its end.
std::string_view before_space(std::string_view code, std::size_t end);
/// The word that begins at \p at, or ends before \p end; empty if there is none. A number counts as a word.
std::string_view word_at(std::string_view code, std::size_t at);
std::string_view word_before(std::string_view code, std::size_t end);
/// The first place from \p from on where \p word is a whole word.
std::size_t find_word(std::string_view code, std::string_view word, std::size_t from = 0);
bool has_word(std::string_view code, std::string_view word);
std::size_t count_word(std::string_view code, std::string_view word);
/// \p expression, a name or `&name`, as a name of the global namespace: `::reduce<float>`. A `using namespace std;`
/// then adds no other meaning to it.
std::string in_global_namespace(std::string_view expression);
/// Whether \p word occurs in \p source outside of comments, literals and `#pragma tuner` lines.
bool occurs_in_code(std::string_view source, std::string_view word);
/// The words of \p text, in order, without numbers. They are views into \p text, which must outlive them.
std::vector<std::string_view> words_of(std::string_view text);
template <std::same_as<std::string> Temporary>
void words_of(Temporary&& text) = delete;
/// Whether \p is_wanted holds for one of the words_of() \p text.
bool any_word(std::string_view text, const auto& is_wanted) {
  const std::vector<std::string_view> words = words_of(text);
  return std::ranges::any_of(words, is_wanted);
}
/// \p text with each word, or number, replaced by what \p replaced returns for it.
std::string replace_words(std::string_view text, const auto& replaced) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = word_at(text, at);
    if (word.empty())
      result += text[at];
    else
      result += replaced(word);
    at += std::max<std::size_t>(word.size(), 1);
  }
  return result;
}
/// \p text with each word of \p values replaced by its value.
std::string substitute_words(std::string_view text, const std::map<std::string, std::string, std::less<>>& values);

/// The beginning of the statement, or of the head of a body, that \p at is in, up to \p at and without directives. At
/// most the last 4096 characters of it.
std::string_view statement_before(std::string_view code, std::size_t at);

/// The place after the bracket that closes the one at \p open; npos if there is none within \p longest characters.
std::size_t after_brackets(std::string_view code, std::size_t open, std::size_t longest = npos);
/// The text between the first `{` from \p from on and its `}`, with both; empty if there is none.
std::string_view in_braces(std::string_view code, std::size_t from);
/// The place after the `>` that closes the `<` at \p open; npos if there is none. Skips `<<` and brackets.
std::size_t after_angles(std::string_view code, std::size_t open);
/// The parts of \p list between its commas. Commas in brackets do not count, and neither do commas in `<>` outside of
/// all brackets: `layout<a, b>` is one part. With \p compares, `<` and `>` are operators: `a < b, c > d` is two parts.
std::vector<std::string_view> at_commas(std::string_view list, bool compares = false);

}  // namespace tuner
