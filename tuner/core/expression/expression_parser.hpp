#pragma once
/// Parses expressions. Private to this room.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <tuner/core/expression/expression.hpp>
#include <tuner/core/expression/token.hpp>

namespace tuner {

/// The numbers that an expression may have. Integer arithmetic excludes those with a point.
enum class Numbers { integers, any };

/// Names that stand for expressions (`let`).
using Substitutions = std::map<std::string, Expression, std::less<>>;

/// Parses one expression from \p cursor and leaves it at the first token that does not belong to it. Throws SpecError.
Expression parse_expression(TokenCursor& cursor, const Substitutions& substitutions,
                            Numbers numbers = Numbers::integers);

bool is_function_name(std::string_view name);
/// `and or not in true false`.
bool is_reserved_word(std::string_view name);

}  // namespace tuner
