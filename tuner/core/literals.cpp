#include <tuner/core/literals.hpp>

#include <cmath>
#include <optional>

#include <tuner/core/characters.hpp>
#include <tuner/core/count.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/kernel_program.hpp>

namespace tuner {
namespace {

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
    throw SpecError(place, in_quotes(word) + " is no range of integers, as in 32..1024 step 32 or 2^(0..10)");
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
