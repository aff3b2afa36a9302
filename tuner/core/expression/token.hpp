#pragma once
/// Tokens of directives and expressions, each with its place, and the values that directives give. Private to this
/// room.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/value.hpp>
#include <tuner/error.hpp>

namespace tuner {

/// One line, with continuations joined and comments turned into blanks. Each character has its place in the file.
struct LogicalLine {
  struct Position {
    int line = 0, column = 0;
  };
  /// A part of `text` that is in one line of the file.
  struct Run {
    std::size_t begin = 0;  ///< in `text`
    Position at;            ///< of its first character
  };
  std::string text;
  std::vector<Run> runs;  ///< the first begins at 0
  std::string file;
  std::string comment;        ///< after the line's `//`
  Position comment_at{0, 0};  ///< of that `//`; line 0: there is none

  /// \p offset: at most the size of `text`.
  SourceLocation place(std::size_t offset) const;
  /// \p text as one line that starts at \p origin. If \p origin has no line, its characters have none either.
  static LogicalLine from(std::string_view text, const SourceLocation& origin);
};

struct Token {
  enum class Kind { identifier, number, punctuator, end };
  Kind kind = Kind::end;
  std::string_view text;  ///< into LogicalLine::text
  std::size_t begin = 0;  ///< offset into LogicalLine::text

  std::size_t stop() const { return begin + text.size(); }
  bool is(std::string_view expected) const { return kind != Kind::end && text == expected; }
};

/// The value of \p text. Throws SpecError at \p place if it is not a decimal integer of 64 bits.
std::int64_t decimal_integer(std::string_view text, const SourceLocation& place);

/// Reads the tokens of \p line, which must outlive it.
class TokenCursor {
 public:
  explicit TokenCursor(const LogicalLine& line, std::size_t begin = 0) : line_(&line) { lex(begin); }

  const Token& peek() const { return token_; }
  bool at_end() const { return token_.kind == Token::Kind::end; }
  bool at_identifier() const { return token_.kind == Token::Kind::identifier; }
  bool at_number() const { return token_.kind == Token::Kind::number; }
  Token take();
  /// Takes the next token if it is \p text.
  bool accept(std::string_view text);
  /// Takes the next token. Throws SpecError if it is not \p text; the message says that it should follow \p after.
  Token expect(std::string_view text, std::string_view after);
  Token expect_identifier(std::string_view what);
  /// Everything from the next token to the end of the line, without the blanks at its end.
  std::string_view rest() const;
  void skip_rest() { lex(line_->text.size()); }
  /// Continues \p count characters after the beginning of the next token.
  void skip(std::size_t count) {
    last_stop_ = token_.begin + count;
    lex(last_stop_);
  }

  /// End of the token taken last.
  std::size_t last_stop() const { return last_stop_; }
  SourceLocation place() const { return line_->place(token_.begin); }
  SourceLocation place(const Token& token) const { return line_->place(token.begin); }
  const LogicalLine& line() const { return *line_; }
  /// The next token for messages: `'foo'` or `the end of the line`.
  std::string described() const;
  [[noreturn]] void fail(const std::string& message) const { throw SpecError(place(), message); }

 private:
  void lex(std::size_t from);

  const LogicalLine* line_;
  Token token_;
  std::size_t last_stop_ = 0;
};

// Values in directives. All functions throw SpecError at the place of the error.

/// A decimal integer of 64 bits, perhaps negative. Here and below, messages call the value \p what.
std::int64_t parse_integer(TokenCursor& cursor, const std::string& what);
/// A size in the forms of parse_count(), or a negative integer.
std::int64_t parse_size(TokenCursor& cursor, const std::string& what);
/// A finite number, perhaps negative; also a power as in `2^31`.
double parse_number(TokenCursor& cursor, const std::string& what);
/// An integer, written as a size may be, `true`, `false`, or a word, also one that is a Value::fraction().
Value parse_value(TokenCursor& cursor);
/// A value, or several: `32..128 step 32` is 32 64 96 128, `2^(0..3)` is 1 2 4 8.
std::vector<Value> parse_values(TokenCursor& cursor);
/// The text between quotes.
std::string parse_quoted(TokenCursor& cursor, const std::string& what);
/// The name of an element type, by any of its names.
ElementType parse_element_type(TokenCursor& cursor);

}  // namespace tuner
