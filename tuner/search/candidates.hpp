#pragma once
/// Configurations that a model should judge: neighbours of the best, crossings of the best, other values of the best
/// with the rest repaired, and random ones. Also finds
/// valid configurations near points of the full product, for crossings and arithmetic on positions. Internal to the
/// room.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <tuner/search/history.hpp>

namespace tuner::search {

struct CandidateOptions {
  std::size_t elites = 5;    ///< how many of the best have their neighbours as candidates
  std::size_t parents = 20;  ///< how many of the best are crossed
  std::size_t crossings = 100;
  std::size_t repairs = 100;  ///< values that one of the elites cannot take without another change
  std::size_t pool = 400;     ///< random candidates
};

/// Fresh configurations, sorted, without duplicates. \p near_only: only neighbours of the best, if there are any.
std::vector<Index> candidates(History& history, Random& random, const CandidateOptions& options, bool near_only);

/// The configuration with \p digits if it is valid. Otherwise changes one parameter, then two, near values first, until
/// it finds a valid one; nullopt if it finds none.
std::optional<Index> nearest_valid(const EnumeratedSpace& space, Random& random, std::span<const std::uint16_t> digits);

/// A fresh configuration at \p index, beside it, or beside a neighbour; nullopt if all are known.
std::optional<Index> nearest_fresh(const History& history, Random& random, Index index);

}  // namespace tuner::search
