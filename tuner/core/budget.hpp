#pragma once
/// When a tuning stops. Every limit is optional. The first one that is reached ends the search. Without any limit, the
/// search ends when the strategy has nothing left to propose.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>

namespace tuner {

struct Budget {
  std::optional<std::chrono::duration<double>> wall_time;
  std::optional<std::size_t> trials;
  std::optional<double> fraction;        ///< of the valid configurations, 0..1
  std::optional<double> target;          ///< stop at a value of the objective that is as good as this
  std::optional<double> until_unlikely;  ///< stop when P(an improvement of 1%) falls below this, 0..1

  /// The number of trials that ends a search of \p valid configurations; nothing if trials are not limited.
  std::optional<std::size_t> trials_of(std::size_t valid) const {
    if (!fraction) return trials;
    const auto share = static_cast<std::size_t>(std::ceil(*fraction * static_cast<double>(valid)));
    return std::min(trials.value_or(share), share);
  }
};

}  // namespace tuner
