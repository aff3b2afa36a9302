#pragma once
/// Chooses a few configurations that lose least for many sizes. A pure function of measured times.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tuner::convert {

struct Portfolio {
  std::vector<std::size_t> chosen;                  ///< configurations, ascending
  std::vector<std::optional<std::size_t>> of_size;  ///< the fastest of them for each size; nullopt: none was measured
  double worst = 0;                                 ///< share of a size's best, 0..1, for the size that loses most
  double mean = 0;                                  ///< over all sizes
};

/// Chooses at most \p most (at least 1) configurations so that for each size the fastest of them is close to the size's
/// best. Compares the size that loses most, then the mean. \p shares[size][configuration]: best time / its time, in (0,
/// 1]; 0 if not measured. All rows must have the same length. A greedy choice from three starts, then exchanges of one
/// and two until none helps: near the optimum, without proof. Equal inputs give equal answers.
Portfolio choose_portfolio(std::span<const std::vector<double>> shares, std::size_t most);

}  // namespace tuner::convert
