#pragma once
/// Reads the values that stand in directives. Private to this room. All throw SpecError at the place of what is wrong.

#include <cstdint>
#include <string>
#include <vector>

#include <tuner/core/element_type.hpp>
#include <tuner/core/token.hpp>
#include <tuner/core/value.hpp>

namespace tuner {

/// A decimal integer of 64 bits, perhaps negative; \p what names it in messages.
std::int64_t parse_integer(TokenCursor& cursor, const std::string& what);
/// A size as parse_count() reads them, or a negative integer; \p what names it in messages.
std::int64_t parse_size(TokenCursor& cursor, const std::string& what);
/// A finite number, perhaps negative.
double parse_number(TokenCursor& cursor, const std::string& what);
/// Whether \p text is a number with a point or a negative exponent. As a value such a number is a word: it has no
/// arithmetic, and C++ takes it as it is written.
bool is_floating_literal(std::string_view text);
/// An integer, written as a size may be, `true`, `false`, or a word.
Value parse_value(TokenCursor& cursor);
/// A value, or several: `32..128 step 32` is 32 64 96 128, `2^(0..3)` is 1 2 4 8.
std::vector<Value> parse_values(TokenCursor& cursor);
/// What stands between quotes; \p what names it in messages.
std::string parse_quoted(TokenCursor& cursor, const std::string& what);
/// The name of an element type, by any of its names.
ElementType parse_element_type(TokenCursor& cursor);

}  // namespace tuner
