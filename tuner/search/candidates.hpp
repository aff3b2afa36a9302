#pragma once
/// Which configurations are worth asking a model about: the neighbourhoods of the best, crossings of them, and random
/// ones. Internal to the room.

#include <cstddef>
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

}  // namespace tuner::search
