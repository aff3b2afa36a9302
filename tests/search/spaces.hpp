#pragma once
/// Times of search spaces, and steps of strategies, for tests.

#include <cmath>
#include <vector>

#include <tests/support/spaces.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::test {

/// A smooth valley with interactions and steps; smallest at one configuration. Positive.
inline double kernel_time(const EnumeratedSpace& space, EnumeratedSpace::Index index) {
  EnumeratedSpace::Digits d(space.parameters().size());
  space.digits(index, d);
  const double threads = d[0] + d[1];
  const double work = d[2] + d[3];
  return 1 + 0.4 * (threads - 7) * (threads - 7) + 0.3 * (work - 3) * (work - 3) + (d[0] < 4 ? 1.5 : 0.0) +
         (d[4] == (d[0] > 4) ? 0.0 : 0.7) + 0.05 * std::abs(d[5] - 2) + 0.02 * d[3];
}

/// Lets \p strategy propose one configuration of a kernel_space(), and learn its time.
inline EnumeratedSpace::Index try_one(search::Strategy& strategy, const EnumeratedSpace& space) {
  const EnumeratedSpace::Index index = strategy.propose(1).at(0);
  const search::Observation seen{index, kernel_time(space, index), {}};
  strategy.learn({&seen, 1});
  return index;
}

/// Tells \p strategy that a proposal was withdrawn.
inline void take_back(search::Strategy& strategy, EnumeratedSpace::Index index) {
  const search::Observation withdrawn{index, std::nullopt, std::nullopt, true};
  strategy.learn({&withdrawn, 1});
}

}  // namespace tuner::test
