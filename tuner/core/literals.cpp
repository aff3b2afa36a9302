#include <tuner/core/literals.hpp>

#include <charconv>
#include <cmath>

#include <tuner/core/count.hpp>
#include <tuner/core/names.hpp>

namespace tuner {

std::int64_t parse_integer(TokenCursor& cursor, const std::string& what) {
  const SourceLocation place = cursor.place();
  const bool negative = cursor.accept("-");
  if (!cursor.at_number()) cursor.fail("expected " + what + ", not " + cursor.described());
  const std::string text = (negative ? "-" : "") + std::string(cursor.take().text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) throw SpecError(place, in_quotes(text) + " does not fit 64 bits");
  if (error != std::errc{} || end != text.data() + text.size())
    throw SpecError(place, in_quotes(text) + " is not a decimal integer");
  return value;
}

std::int64_t parse_size(TokenCursor& cursor, const std::string& what) {
  if (!cursor.at_number()) return parse_integer(cursor, what);
  // `2^24` is several tokens, which nothing parts.
  const std::string_view rest = cursor.rest();
  const std::string_view text = rest.substr(0, rest.find_first_of(" \t"));
  if (text.find_first_of("^*kKMGTe") == std::string_view::npos) return parse_integer(cursor, what);
  const auto count = parse_count(text);
  if (!count) cursor.fail(in_quotes(text) + " is not " + std::string(kCountExamples));
  cursor.skip(text.size());
  return *count;
}

double parse_number(TokenCursor& cursor, const std::string& what) {
  const SourceLocation place = cursor.place();
  const bool negative = cursor.accept("-");
  if (!cursor.at_number()) cursor.fail("expected " + what + ", not " + cursor.described());
  const std::string text = (negative ? "-" : "") + std::string(cursor.take().text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw SpecError(place, in_quotes(text) + " is not a number");
  }
  return value;
}

Value parse_value(TokenCursor& cursor) {
  if (cursor.at_identifier()) return Value::parse(cursor.take().text);
  if (cursor.at_number() || cursor.peek().is("-")) return parse_integer(cursor, "a value");
  if (cursor.peek().is(",")) cursor.fail("values are separated by blanks, not by ','");
  cursor.fail("expected a value, not " + cursor.described());
}

ElementType parse_element_type(TokenCursor& cursor) {
  const Token token = cursor.expect_identifier("an element type");
  if (const auto type = element_type(token.text)) return *type;
  std::vector<std::string> names;
  for (const ElementTypeInfo& type : element_types()) names.emplace_back(type.name);
  throw SpecError(cursor.place(token), "unknown type " + in_quotes(token.text) + suggestion(token.text, names));
}

}  // namespace tuner
