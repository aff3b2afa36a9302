#pragma once
/// Jumps of several parameters at once, for searches that leave a local optimum. Internal to the room.

#include <algorithm>

#include <tuner/search/history.hpp>

namespace tuner::search {

/// A configuration that differs from \p from in about \p parameters values; each step is valid. \p from itself when
/// it has no neighbour.
inline Index perturb(const EnumeratedSpace& space, Random& random, Index from, std::size_t parameters) {
  Index here = from;
  for (std::size_t step = 0; step < parameters; ++step) {
    const auto around = space.neighbours(here, Neighbourhood::hamming);
    if (around.empty()) break;
    here = around[random.below(around.size())];
  }
  return here;
}

}  // namespace tuner::search
