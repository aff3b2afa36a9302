#pragma once
/// Whole numbers in the forms that people write sizes in, on command lines and in kernel files.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tuner {

/// Accepts `4096`, `4k` (4 * 1024; K, M, G and T likewise), `1.5M`, `1e6`, `2^24` and `2**24`. Returns nothing for any
/// other \p text, and for numbers that are negative, not whole, or too large to be exact.
std::optional<std::int64_t> parse_count(std::string_view text);

/// Why parse_count() returns nothing for \p text: `'1e18' is too large: …` or `'x' is not a whole number such as …`.
std::string not_a_count(std::string_view text);

}  // namespace tuner
