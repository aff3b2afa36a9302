#pragma once
/// Takes samples of launches until their median is precise enough. Internal to the measure room.

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

/// Computes median, interval, noise and clock of \p measurement from its samples. \p clocks_mhz: one for each sample.
/// \p batch: runs in one sample, which divides the clock's step. The interval is widened by half a step on both sides,
/// because the clock's steps limit the precision of the median. If samples show a step, it is stored as the metric
/// "clock_step_ns".
void summarise(Measurement& measurement, std::span<const double> clocks_mhz, std::size_t batch,
               const MeasureOptions& options);

/// A run hangs if it takes more than this many times the known time.
inline constexpr double kHangFactor = 50;
/// The longest time of all pauses for one configuration. Afterwards, slow samples are kept and flagged.
inline constexpr double kThrottleBudgetSeconds = 1;

/// MeasureOptions::hang_floor_s for the device of \p backend.
double hang_floor_s(const Backend& backend, const MeasureOptions& options);

class Sampler {
 public:
  /// \p sleep: seconds; a seam for tests.
  Sampler(Backend& backend, const MeasureOptions& options, std::function<void(double)> sleep = {});

  /// \p run_s: the wall time of one run during verification, from which time limits are computed. \p before: called
  /// before each group of samples with its time limit. \p prepare: SampleRequest::prepare.
  Outcome measure(std::span<const Launch> launches, double best_ns, double run_s,
                  const std::function<void(double)>& before, std::span<const Launch> prepare = {});

  struct Group {
    std::vector<Sample> samples;
    bool throttled = false;  ///< some were taken again, or are still slow

    /// Adds them to \p measurement, and their clocks to \p clocks.
    void add_to(Measurement& measurement, std::vector<double>& clocks) const;
  };
  /// Takes the samples of \p request. Those with a low clock are taken again after pauses, which reduce \p pause_left_s
  /// until it is used up.
  std::variant<Group, Outcome> take(std::span<const Launch> launches, const SampleRequest& request,
                                    double& pause_left_s);
  /// The number of runs in one sample that makes a hot sample long enough for the clock, if a run takes \p ns. 1 if
  /// cold.
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
