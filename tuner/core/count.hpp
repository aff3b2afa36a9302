#pragma once
/// Whole numbers as people write sizes, on command lines and in kernel files alike.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tuner {

/// For messages: what parse_count() reads.
inline constexpr std::string_view kCountExamples = "a whole number such as 4096, 4k, 16M, 1e6 or 2^24";

/// `4096`, `4k` (4 * 1024; K, M, G and T likewise), `1.5M`, `1e6`, `2^24`, `2**24`; nothing when \p text is none of
/// them, negative, not whole, or too large to be exact.
std::optional<std::int64_t> parse_count(std::string_view text);

}  // namespace tuner
