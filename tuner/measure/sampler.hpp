#pragma once
/// Takes samples of launches until their median is precise enough. Internal to the measure room.

#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

/// Computes median, interval, noise and clock of \p measurement from its samples. \p clocks_mhz: one for each sample.
/// \p batch: runs in one sample, which divides the clock's step. The interval is widened by half a step on both sides,
/// because the clock's steps limit the precision of the median. If samples show a step, it is stored as the metric
/// "clock_step_ns".
void summarise(Measurement& measurement, std::span<const double> clocks_mhz, std::size_t batch,
               const MeasureOptions& options);

/// The runs in one sample.
struct SampleRuns {
  std::size_t runs = 1;
  /// The refills come before each run. They are sampled by themselves too, and their time is taken off.
  bool is_refilled = false;
};

/// A run hangs if it takes more than this many times the known time.
inline constexpr double kHangFactor = 50;
/// The longest time of all pauses for one configuration. Afterwards, slow samples are kept and flagged.
inline constexpr double kThrottleBudgetSeconds = 1;

/// MeasureOptions::hang_floor_s for the device of \p backend.
double hang_floor_s(const Backend& backend, const MeasureOptions& options);

/// Launches to be timed, and their surroundings.
///
/// Each sample begins with outputs, work space and inputs as before a verified run, so that a kernel finds nothing
/// done. Samples at random places, and the last one, are checked. A kernel therefore cannot know which of its runs are
/// timed and which are checked, and every run has to do the work.
struct TimedWork {
  std::span<const Launch> launches;
  std::span<const Launch> prepare = {};  ///< SampleRequest::prepare
  std::span<const Refill> refills = {};  ///< SampleRequest::refills
  /// If set, called before each sample, for memory that `refills` cannot write. Samples are then taken one by one.
  std::function<void()> restore = nullptr;
  /// If set, returns what is wrong after the last run.
  std::function<std::optional<Outcome>()> check = nullptr;
  /// Several runs without refills give the same outputs as one.
  bool is_repeatable = false;
};

class Sampler {
 public:
  /// Called before each step with its time limit in seconds.
  using Announce = std::function<void(double limit_s)>;

  /// \p sleep: seconds; a seam for tests.
  Sampler(Backend& backend, const MeasureOptions& options, std::function<void(double)> sleep = {});

  /// \p in_haste: asked after each step of measure(); true: the samples so far are enough.
  void set_haste(std::function<bool()> in_haste) { in_haste_ = std::move(in_haste); }

  /// \p run_s: the wall time of one run during verification, from which time limits are computed.
  Outcome measure(const TimedWork& work, double best_ns, double run_s, const Announce& announce);

  struct Group {
    std::vector<Sample> samples;
    bool throttled = false;  ///< some were taken again, or are still slow

    /// Adds them to \p measurement, and their clocks to \p clocks.
    void add_to(Measurement& measurement, std::vector<double>& clocks) const;
  };
  /// Takes \p samples samples, each of \p batch. Samples with a low clock are taken again after pauses, which
  /// reduce \p pause_left_s until it is used up.
  std::variant<Group, Outcome> take(const TimedWork& work, std::size_t samples, SampleRuns batch, double run_s,
                                    double& pause_left_s, const Announce& announce);
  /// The runs that make a sample long enough for the clock. One if samples are cold or prepared. Runs may take less
  /// time when an earlier one has done their work. Then it is one too; in a graph, whose launch takes longer than a
  /// short run, each run is refilled instead.
  std::variant<SampleRuns, Outcome> batch_for(const TimedWork& work, double run_s, double& pause_left_s,
                                              const Announce& announce);

  /// Whether a run among others of a batch takes as long as one that finds nothing done. Takes samples of both.
  std::variant<bool, Outcome> repeats_its_work(const TimedWork& work, std::size_t batch, double run_s,
                                               double& pause_left_s, const Announce& announce);

 private:
  SampleRequest request(const TimedWork& work, std::size_t samples, SampleRuns batch, double run_s) const;
  /// \p at_once: the most samples between two calls of \p announce. \p without_refills: their time is taken off.
  std::variant<Group, Outcome> take(const TimedWork& work, const SampleRequest& wanted, double& pause_left_s,
                                    const Announce& announce,
                                    std::size_t at_once = std::numeric_limits<std::size_t>::max(),
                                    bool without_refills = false);
  std::optional<Outcome> take_off_refills(const TimedWork& work, const SampleRequest& part, const Announce& announce,
                                          std::vector<Sample>& samples);
  std::variant<double, Outcome> median_of(const TimedWork& work, const SampleRequest& wanted, double& pause_left_s,
                                          const Announce& announce);
  double typical_clock() const;

  Backend& backend_;
  const MeasureOptions& options_;
  std::function<void(double)> sleep_;
  std::function<bool()> in_haste_ = [] { return false; };
  std::deque<double> clocks_;  // medians of the latest groups
  std::mt19937_64 random_;     // the samples that are checked
};

}  // namespace tuner
