#pragma once
/// The score by which the auto-tuning community compares search strategies on a recorded space. It shows how far a
/// strategy's best so far is ahead of the best that random search is expected to have. It is the mean over the time in
/// which random search goes from 1% to 95% of the way to the optimum. 0 is random search, 1 is the optimum at once.
///
/// Source: Willemsen, Nugteren, Filipovic, van Werkhoven, "A methodology for comparing optimization algorithms for
/// auto-tuning", Future Generation Computer Systems 159 (2024), in the form of the package autotuning_methodology.

#include <cstdint>

#include <tuner/replay/recorded_space.hpp>

namespace tuner::replay {

/// One repeat on the time axis: the best so far at each point, as its rank among the valid objectives (0: optimum).
using RankCurve = std::vector<std::uint32_t>;

struct Score {
  double value = 0;
  double standard_error = 0;       ///< bootstrap over the repeats; 0 for one repeat
  double relative_to_optimum = 0;  ///< optimum / mean best at the last time point, 0..1
  double random_to_optimum = 0;    ///< the same for random search
  std::vector<double> curve;       ///< objective at each time point
};

/// \p optimum / \p objective; 1 at the optimum, even if that is 0.
inline double share_of_optimum(double optimum, double objective) {
  return objective == optimum ? 1 : optimum / objective;
}

class Scorer {
 public:
  /// \p recorded must outlive the scorer. Throws RecordedSpaceError when no row is valid.
  explicit Scorer(const RecordedSpace& recorded);

  /// Equally spaced, seconds.
  const std::vector<double>& times() const { return times_; }
  /// Random search's expected best at each time.
  const std::vector<double>& baseline() const { return baseline_; }
  double optimum() const { return ascending_.front(); }
  /// Evaluations that random search makes until the last time point; 1 if evaluations take no time.
  double random_draws() const { return seconds_a_draw_ > 0 ? times_.back() / seconds_a_draw_ : 1; }
  /// A run that costs this many seconds has reached every time point.
  double horizon() const { return 1.1 * times_.back(); }

  /// \p rows: the configurations of one repeat in the order of their evaluation. A repeat without a valid result has
  /// the worst rank.
  RankCurve rank_curve(std::span<const std::uint64_t> rows) const;

  /// \p repeats: at least one.
  Score score(std::span<const RankCurve> repeats) const;

 private:
  double score_of(std::span<const double> mean_rank, std::vector<double>* curve) const;
  void set_times();
  void set_baseline();

  const RecordedSpace& recorded_;
  std::vector<double> ascending_;  // valid objectives
  double seconds_a_draw_ = 0;
  std::vector<double> times_;
  std::vector<double> baseline_;
};

}  // namespace tuner::replay
