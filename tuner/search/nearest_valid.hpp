#pragma once
/// Brings a point of the full product back to the valid configurations: what crossover and arithmetic on positions
/// need. Internal to the room.

#include <optional>
#include <span>
#include <vector>

#include <tuner/search/history.hpp>

namespace tuner::search {

/// The configuration with \p digits when it is valid, else a valid one that differs from it in as few parameters as
/// can be found by changing one, then two of them, trying near values first; nothing when that does not help.
std::optional<Index> nearest_valid(const EnumeratedSpace& space, Random& random, std::span<const std::uint16_t> digits);

/// A fresh configuration at or near \p index: itself, a neighbour, or a neighbour's; nothing when all are known.
std::optional<Index> nearest_fresh(const History& history, Random& random, Index index);

}  // namespace tuner::search
