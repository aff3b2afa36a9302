#pragma once
/// Few configurations for many sizes: which ones lose least. A pure function of what was measured.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tuner::convert {

struct Portfolio {
  std::vector<std::size_t> chosen;                  ///< configurations, ascending
  std::vector<std::optional<std::size_t>> of_size;  ///< the fastest of them there; nothing: none was measured there
  double worst = 0;                                 ///< share of a size's best, 0..1, at the size that loses most
  double mean = 0;                                  ///< over all sizes
};

/// At most \p most configurations (at least 1) whose fastest one comes closest to each size's best: first by the size
/// that loses most, then by the mean. \p shares[size][configuration]: best time / its time, in (0, 1]; 0 where it was
/// not measured; every row of the same length. Greedy from three starts, then exchanges of one and of two until none
/// helps: near the optimum, not proven to be it. Equal inputs give equal answers.
Portfolio choose_portfolio(std::span<const std::vector<double>> shares, std::size_t most);

}  // namespace tuner::convert
