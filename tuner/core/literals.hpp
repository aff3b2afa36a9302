#pragma once
/// Reads the values in directives. All functions throw SpecError at the place of the error. Private to this room.

#include <cstdint>
#include <string>
#include <vector>

#include <tuner/core/element_type.hpp>
#include <tuner/core/token.hpp>
#include <tuner/core/value.hpp>

namespace tuner {

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
