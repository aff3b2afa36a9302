#pragma once
/// Reads the values that stand in directives. Private to this room. All throw SpecError at the place of what is wrong.

#include <cstdint>
#include <string>

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
/// An integer, `true`, `false` or a word.
Value parse_value(TokenCursor& cursor);
/// The name of an element type, by any of its names.
ElementType parse_element_type(TokenCursor& cursor);

}  // namespace tuner
