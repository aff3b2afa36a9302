#pragma once
/// Which configurations are worth asking a model about: the neighbourhoods of the best, crossings of them, and random
/// ones; and the way from a point of the full product back to the valid ones, which crossings and arithmetic on
/// positions need. Internal to the room.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <tuner/search/history.hpp>

namespace tuner::search {

struct CandidateOptions {
  std::size_t elites = 5;    ///< whose neighbours are candidates
  std::size_t parents = 20;  ///< that are crossed
  std::size_t crossings = 100;
  std::size_t pool = 400;  ///< random ones
};

/// Fresh, sorted, each once. \p near_only: the neighbours of the best alone, while there are any.
std::vector<Index> candidates(History& history, Random& random, const CandidateOptions& options, bool near_only);

/// The configuration with \p digits when it is valid, else a valid one that differs from it in as few parameters as
/// can be found by changing one, then two of them, trying near values first; nothing when that does not help.
std::optional<Index> nearest_valid(const EnumeratedSpace& space, Random& random, std::span<const std::uint16_t> digits);

/// A fresh configuration at or near \p index: itself, a neighbour, or a neighbour's; nothing when all are known.
std::optional<Index> nearest_fresh(const History& history, Random& random, Index index);

}  // namespace tuner::search
