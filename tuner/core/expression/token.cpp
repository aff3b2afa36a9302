#include <tuner/core/expression/token.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/count.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

constexpr std::array<std::string_view, 8> kTwoCharacters{"==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};
constexpr std::string_view kOneCharacter = "+-*/%<>!?:,=()[]{}";

// As many values as a kernel may have.
constexpr std::uint64_t kLongestRange = 65535;

struct Range {
  std::int64_t low = 0, high = 0, step = 1;
  std::uint64_t count() const {
    const std::uint64_t distance = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    return distance / static_cast<std::uint64_t>(step) + 1;
  }
};

/// Reads `LOW..HIGH [step STEP]`. If there is no range, reads and returns nothing.
std::optional<Range> parse_range(TokenCursor& cursor) {
  const SourceLocation place = cursor.place();
  const std::string_view rest = cursor.rest();
  const std::size_t dots = rest.find("..");
  const auto bound = [&](std::string_view text) {
    const bool negative = text.starts_with('-');
    const auto count = parse_count(text.substr(negative ? 1 : 0));
    return count && negative ? -*count : count;
  };
  // One word: `0..10` is a single token for the preprocessor, `-4..-1` is several.
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t)"));
  if (dots == std::string_view::npos || dots >= word.size()) return std::nullopt;
  const auto low = bound(word.substr(0, dots)), high = bound(word.substr(dots + 2));
  if (!low || !high)
    throw SpecError(place, in_quotes(word) + " is not a range of integers, as in 32..1024 step 32 or 2^(0..10)");
  cursor.skip(word.size());
  Range range{*low, *high};
  if (cursor.accept("step")) {
    const SourceLocation step_place = cursor.place();
    range.step = parse_size(cursor, "the step");
    if (range.step <= 0) throw SpecError(step_place, "a step is at least 1");
  }
  if (range.low > range.high) throw SpecError(place, in_quotes(word) + " is empty: a range goes from its lower end up");
  if (range.count() > kLongestRange)
    throw SpecError(place, in_quotes(word) + " has more than " + std::to_string(kLongestRange) + " values");
  return range;
}

/// Takes a number, perhaps negative.
std::string number_text(TokenCursor& cursor, const std::string& what) {
  const bool negative = cursor.accept("-");
  if (!cursor.at_number()) cursor.fail("expected " + what + ", not " + cursor.described());
  return (negative ? "-" : "") + std::string(cursor.take().text);
}

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

std::string_view TokenCursor::rest() const { return trimmed(std::string_view(line_->text).substr(token_.begin)); }

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

std::int64_t decimal_integer(std::string_view text, const SourceLocation& place) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) throw SpecError(place, in_quotes(text) + " does not fit 64 bits");
  if (error != std::errc{} || end != text.data() + text.size())
    throw SpecError(place, in_quotes(text) + " is not a decimal integer");
  return value;
}

std::int64_t parse_integer(TokenCursor& cursor, const std::string& what) {
  const SourceLocation place = cursor.place();
  const std::string text = number_text(cursor, what);
  return decimal_integer(text, place);
}

std::int64_t parse_size(TokenCursor& cursor, const std::string& what) {
  if (!cursor.at_number()) return parse_integer(cursor, what);
  // `2^24` is several tokens without blanks between them.
  const std::string_view rest = cursor.rest();
  const std::string_view text = rest.substr(0, rest.find_first_of(" \t,"));
  if (text.find_first_of("^*kKMGTe") == std::string_view::npos) return parse_integer(cursor, what);
  const auto count = parse_count(text);
  if (!count) cursor.fail(not_a_count(text));
  cursor.skip(text.size());
  return *count;
}

double parse_number(TokenCursor& cursor, const std::string& what) {
  const SourceLocation place = cursor.place();
  TokenCursor after_sign = cursor;
  const bool negative = after_sign.accept("-");
  const std::string_view rest = after_sign.rest(), word = rest.substr(0, rest.find_first_of(" \t,"));
  if (const auto power = word.find_first_of("^*") != std::string_view::npos ? parse_count(word) : std::nullopt) {
    cursor = after_sign;
    cursor.skip(word.size());
    return static_cast<double>(negative ? -*power : *power);
  }
  const std::string text = number_text(cursor, what);
  const auto value = number_of<double>(text);
  if (!value || !std::isfinite(*value)) throw SpecError(place, in_quotes(text) + " is not a number");
  return *value;
}

Value parse_value(TokenCursor& cursor) {
  if (cursor.at_identifier()) return Value::parse(cursor.take().text);
  const std::string_view rest = cursor.rest();
  if (Value word(std::string(rest.substr(0, rest.find_first_of(" \t,")))); word.fraction()) {
    cursor.skip(word.string().size());
    return word;
  }
  if (cursor.at_number() || cursor.peek().is("-")) return parse_size(cursor, "a value");
  if (cursor.peek().is(",")) cursor.fail("values are separated by blanks, not by ','");
  cursor.fail("expected a value, not " + cursor.described());
}

std::vector<Value> parse_values(TokenCursor& cursor) {
  const SourceLocation place = cursor.place();
  const bool powers = cursor.rest().starts_with("2^(");
  if (powers) cursor.skip(3);
  const auto range = parse_range(cursor);
  if (!range) {
    if (powers) cursor.fail("expected the range of the exponents, as in 2^(0..10), not " + cursor.described());
    return {parse_value(cursor)};
  }
  if (powers) {
    cursor.expect(")", "the exponents");
    if (range->low < 0 || range->high > 62) throw SpecError(place, "exponents of 2 go from 0 to 62");
  }
  std::vector<Value> values;
  for (std::uint64_t i = 0; i < range->count(); ++i) {
    const auto one =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(range->low) + i * static_cast<std::uint64_t>(range->step));
    values.emplace_back(powers ? std::int64_t{1} << one : one);
  }
  return values;
}

std::string parse_quoted(TokenCursor& cursor, const std::string& what) {
  const std::string_view rest = cursor.rest();
  const std::size_t end = rest.starts_with('"') ? rest.find('"', 1) : std::string_view::npos;
  if (end == std::string_view::npos || end == 1) cursor.fail("expected " + what + ", not " + cursor.described());
  cursor.skip(end + 1);
  return std::string(rest.substr(1, end - 1));
}

ElementType parse_element_type(TokenCursor& cursor) {
  const Token token = cursor.expect_identifier("an element type");
  if (const auto type = element_type(token.text)) return *type;
  throw SpecError(cursor.place(token),
                  "unknown type " + in_quotes(token.text) + suggestion(token.text, names_of(element_types())));
}

}  // namespace tuner
