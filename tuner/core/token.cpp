#include <tuner/core/token.hpp>

#include <algorithm>
#include <array>

#include <tuner/core/characters.hpp>
#include <tuner/core/named.hpp>

namespace tuner {
namespace {

constexpr std::array<std::string_view, 8> kTwoCharacters{"==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};
constexpr std::string_view kOneCharacter = "+-*/%<>!?:,=()[]{}";

}  // namespace

SourceLocation LogicalLine::place(std::size_t offset) const {
  const auto next = std::find_if(runs.begin() + 1, runs.end(), [&](const Run& run) { return run.begin > offset; });
  const auto [begin, at] = next[-1];
  return {file, at.line, at.line == 0 ? at.column : at.column + static_cast<int>(offset - begin)};
}

LogicalLine LogicalLine::from(std::string_view text, const SourceLocation& origin) {
  LogicalLine result;
  result.text = text;
  result.runs.push_back({0, {origin.line, origin.column}});
  result.file = origin.file;
  if (origin.line != 0)
    for (std::size_t end = 0; (end = text.find('\n', end)) != std::string_view::npos;)
      result.runs.push_back({++end, {result.runs.back().at.line + 1, 1}});
  return result;
}

Token TokenCursor::take() {
  const Token taken = token_;
  last_stop_ = taken.stop();
  lex(last_stop_);
  return taken;
}

bool TokenCursor::accept(std::string_view text) {
  if (!token_.is(text)) return false;
  take();
  return true;
}

Token TokenCursor::expect(std::string_view text, std::string_view after) {
  if (!token_.is(text)) {
    fail("expected '" + std::string(text) + "' after " + std::string(after) + ", not " + described());
  }
  return take();
}

Token TokenCursor::expect_identifier(std::string_view what) {
  if (!at_identifier()) fail("expected " + std::string(what) + ", not " + described());
  return take();
}

std::string_view TokenCursor::rest() const {
  std::string_view result = std::string_view(line_->text).substr(token_.begin);
  while (!result.empty() && is_space(result.back())) result.remove_suffix(1);
  return result;
}

std::string TokenCursor::described() const { return at_end() ? "the end of the line" : in_quotes(token_.text); }

void TokenCursor::lex(std::size_t from) {
  const std::string_view text = line_->text;
  while (from < text.size() && is_space(text[from])) ++from;
  token_ = {Token::Kind::end, text.substr(from, 0), from};
  if (from == text.size()) return;

  std::size_t stop = from + 1;
  const char first = text[from];
  if (is_word_start(first)) {
    token_.kind = Token::Kind::identifier;
    while (stop < text.size() && is_word(text[stop])) ++stop;
  } else if (is_digit(first) || (first == '.' && stop < text.size() && is_digit(text[stop]))) {
    // As in the preprocessor, letters, dots and signed exponents belong to the number, so that `12ab` is one error.
    token_.kind = Token::Kind::number;
    while (stop < text.size() &&
           (is_word(text[stop]) || text[stop] == '.' ||
            ((text[stop] == '+' || text[stop] == '-') && (text[stop - 1] == 'e' || text[stop - 1] == 'E')))) {
      ++stop;
    }
  } else {
    // Any other character is a token too: raw text may contain it, and all other callers report it.
    token_.kind = Token::Kind::punctuator;
    const std::string_view two = text.substr(from, 2);
    if (contains(kTwoCharacters, two)) {
      stop = from + 2;
    } else if (kOneCharacter.find(first) == std::string_view::npos) {
      while (stop < text.size() && (static_cast<unsigned char>(text[stop]) & 0xC0u) == 0x80u) ++stop;
    }
  }
  token_.text = text.substr(from, stop - from);
}

bool is_identifier(std::string_view text) {
  return !text.empty() && is_word_start(text.front()) && std::all_of(text.begin(), text.end(), is_word);
}

}  // namespace tuner
