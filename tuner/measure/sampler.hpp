#pragma once
/// Takes samples of launches until their median is known well enough. Internal to the measure room.

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

/// Fills in median, interval, noise and clock of \p measurement from its samples. \p clocks_mhz: one for each
/// sample. \p batch: runs in one sample, which divides the clock's step. The interval is widened by half a step on
/// both sides: a quantised median is no better than that. Cold measurements carry the step as metric
/// "clock_step_ns" where samples show one.
void summarise(Measurement& measurement, std::span<const double> clocks_mhz, std::size_t batch,
               const MeasureOptions& options);

/// A run that takes so many times as long as is known hangs.
inline constexpr double kHangFactor = 50;
/// Of pauses for one configuration. Afterwards slow samples are kept, and flagged.
inline constexpr double kThrottleBudgetSeconds = 1;

/// MeasureOptions::hang_floor_s for the device of \p backend.
double hang_floor_s(const Backend& backend, const MeasureOptions& options);

class Sampler {
 public:
  /// \p sleep: seconds; a seam for tests.
  Sampler(Backend& backend, const MeasureOptions& options, std::function<void(double)> sleep = {});

  /// \p run_s: wall time of one run, seen during verification, for time limits. \p before: called before each group
  /// of samples with the limit it runs under. \p prepare: SampleRequest::prepare.
  std::variant<Measurement, LaunchError, Timeout> measure(std::span<const Launch> launches, double best_ns,
                                                          double run_s, const std::function<void(double)>& before,
                                                          std::span<const Launch> prepare = {});

  struct Group {
    std::vector<Sample> samples;
    bool throttled = false;  ///< some had to be retaken, or are still slow
  };
  /// \p count samples, those below the throttle limit retaken after pauses while \p pause_left_s lasts.
  std::variant<Group, LaunchError, Timeout> take(std::span<const Launch> launches, const SampleRequest& request,
                                                 double& pause_left_s);
  /// Runs in one sample, so that a hot sample of a run of \p ns is long enough for the clock. 1 when cold.
  std::size_t batch_for(double ns) const;
  SampleRequest request(std::size_t samples, std::size_t batch, double run_s,
                        std::span<const Launch> prepare = {}) const;

 private:
  double typical_clock() const;

  Backend& backend_;
  const MeasureOptions& options_;
  std::function<void(double)> sleep_;
  std::deque<double> clocks_;  // medians of the latest groups
};

}  // namespace tuner
