#pragma once
/// A tuning session: strategy x evaluator x budget -> trials, each stored as it happens, and the best one verified
/// against the rest. Knows nothing of backends: the evaluator does the work.

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/budget.hpp>
#include <tuner/core/evaluator.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/objective.hpp>
#include <tuner/session/observer.hpp>

namespace tuner {

/// Where a session keeps its trials: a seam, so that sessions run without a database in tests. DatabaseStore
/// (database_store.hpp) is the real one.
class TrialStore {
 public:
  virtual ~TrialStore() = default;
  /// Finished trials of an interrupted session with the same kernel, device, problem and conditions.
  virtual std::vector<Trial> resume() = 0;
  /// Why \p configuration must not be run again on this device (it crashed); nothing when it may.
  virtual std::optional<std::string> quarantined(const Configuration& configuration) = 0;
  /// Keeps \p trial; may batch, and never blocks a session for long. Problems become warnings, not exceptions.
  virtual void append(const Trial& trial) = 0;
  /// Flushes. \p best, when given, is verified and becomes the stored best. \p done: the session was not
  /// interrupted and need not be resumed.
  virtual void finish(const Trial* best, bool done) = 0;
};

/// Looks at what is about to be named best by other means than those that found it: a seam, like TrialStore. HostCheck
/// (host_check.hpp) is the real one.
class FinalistCheck {
 public:
  virtual ~FinalistCheck() = default;
  /// \p configuration leads near the end: wrong() is likely to be asked of it, and may find it looked at. Returns at
  /// once; told again and again.
  virtual void expect(const Configuration& configuration) = 0;
  /// What is wrong with \p configuration; nothing when it is right, or could not be looked at (why_not()).
  virtual std::optional<WrongResult> wrong(const Configuration& configuration) = 0;
  /// Why the last configuration was not looked at: a sentence's end, empty when it was.
  virtual std::string why_not() const = 0;
};

/// Results of the same kernel at another size or on another device.
struct Prior {
  struct Result {
    Configuration configuration;
    std::optional<double> objective;  ///< nothing: it failed there
  };
  std::vector<Result> results;  ///< only their order and ratios count
  double weight = 1;            ///< trust relative to a measurement, 0..1
  std::string origin;           ///< for people: "n=16777216 on NVIDIA H200"
};

struct SessionOptions {
  Budget budget;
  std::string strategy = "auto";
  std::map<std::string, double> strategy_options;
  std::uint64_t seed = 1;
  Objective objective;
  std::optional<Prior> prior;  ///< told to the strategy before it begins; those without a model ignore it
  /// Configurations within this factor of the best are measured again, interleaved, before a winner is named.
  double finalist_factor = 1.03;
  std::size_t max_finalists = 8;
  /// Measure the best again although none comes near it: metrics are collected of what is measured again.
  bool remeasure_one = false;
  /// What is wrong by it is not named best; the next best is. Behind the wall time. Null: nothing is asked.
  FinalistCheck* check = nullptr;
  /// Nothing is compared: what ran can be the best too. Whoever keeps it says so.
  bool unverified = false;
  /// If set, a session waits at most this long after the wall time for the configuration that still runs. If empty, it
  /// waits until that ends. Only for evaluators that can be destroyed while a configuration runs.
  std::optional<std::chrono::milliseconds> grace;
  /// Where the wall time begins; nothing: when the session does.
  std::optional<std::chrono::steady_clock::time_point> started;
  /// Set from a signal handler or another thread: the session takes back what waits for a compiler or the device, lets
  /// the device finish what it runs, and ends.
  const std::atomic<bool>* stop = nullptr;
};

enum class StopReason { exhausted, wall_time, trials, fraction, target, unlikely, interrupted, device_lost };
std::string_view text(StopReason reason);

struct SessionResult {
  std::vector<Trial> trials;  ///< resumed ones first, then in order of completion
  std::size_t resumed = 0;
  std::optional<Trial> best;  ///< verified, but for SessionOptions::unverified; absent when nothing worked
  /// Configurations that the measurements cannot tell from the best; it was preferred for being simpler.
  std::vector<Configuration> ties;
  double product = 0;
  std::size_t valid = 0;
  StopReason stop_reason = StopReason::exhausted;
  TrialTimes times;               ///< summed over the trials of this run
  std::vector<LaneReport> lanes;  ///< where there were several
  double wall_seconds = 0;
};

/// Tunes \p spec for \p size on \p device through \p evaluator. \p store may be null: nothing is kept.
/// The default configuration is the first trial and always a finalist: the winner is not slower beyond the noise. A
/// wall time is kept up to the one configuration that runs when it ends; measuring the finalists again is part of it.
/// Throws Error when the space has no valid configuration (naming the constraint that rules out most), and
/// std::invalid_argument for an unknown strategy.
SessionResult run_session(const KernelSpec& spec, const ProblemSize& size, const Device& device, Evaluator& evaluator,
                          TrialStore* store, const SessionOptions& options, Observer* observer);

}  // namespace tuner
