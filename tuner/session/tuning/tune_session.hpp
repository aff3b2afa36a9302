#pragma once
/// A tuning session: a strategy proposes configurations, an evaluator runs them within a budget, and each trial is
/// stored as it happens. At the end the best is compared with its rivals. A session does not depend on any backend.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/device/device.hpp>
#include <tuner/core/result/evaluator.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/core/values/space_count.hpp>
#include <tuner/effort.hpp>
#include <tuner/measure/numbers/statistics.hpp>

namespace tuner {

struct KernelSpec;

class TrialStore;

/// The progress of a session.
struct Progress {
  std::size_t finished = 0;            ///< trials of this run, without resumed ones.
  std::size_t resumed = 0;             ///< trials of an interrupted session.
  std::optional<std::size_t> planned;  ///< trials that this run will make, if known.
  std::chrono::duration<double> elapsed{0};
  std::optional<std::chrono::duration<double>> remaining;  ///< estimate, from the budget and the rate
  const Trial* best = nullptr;                             ///< so far
};

/// The work that a session is about to begin.
struct SessionPlan {
  const KernelSpec* spec = nullptr;
  const ProblemSize* size = nullptr;
  const Device* device = nullptr;
  std::string_view strategy;
  double product = 0;     ///< configurations before constraints are applied.
  std::size_t valid = 0;  ///< configurations after that.
  std::size_t resumed = 0;
  std::size_t known_elsewhere = 0;  ///< configurations with results from another problem or device.
  std::string_view elsewhere;       ///< where those were measured, for people.
  std::size_t lanes = 0;            ///< devices that share the work; 0: one.
  SpaceCount::Kind valid_is = SpaceCount::Kind::exact;
};

/// Receives the events of a session, for progress bars, logs and reports. The session's thread calls all functions
/// except on_warning().
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const SessionPlan& plan) { (void)plan; }
  virtual void on_trial(const Trial& trial, const Progress& progress) { (void)trial, (void)progress; }
  /// Finalists are about to be measured again.
  virtual void on_finalists(std::size_t count) { (void)count; }
  /// A message for the user, such as an unwritable cache or a throttled GPU. Any thread may call this, also during a
  /// call of another function, because background threads read and write databases and images.
  virtual void on_warning(std::string_view message) { (void)message; }
};

/// Checks a configuration by other means before it is named best. An interface, so that sessions are tested without
/// processes. WinnerCheck (winner_check.hpp) is the implementation.
class FinalistCheck {
 public:
  virtual ~FinalistCheck() = default;
  /// Says nothing when the configuration is right.
  struct Answer {
    std::optional<WrongResult> wrong;
    std::string why_not;  ///< why it could not be checked, as the end of a sentence
    std::string by = {};  ///< if it was checked, what did it: "host"
  };
  /// Announces that ask() will probably be called for \p configuration, so that a check can begin. Returns at once.
  /// May be called repeatedly.
  virtual void expect(const Configuration& configuration) = 0;
  virtual Answer ask(const Configuration& configuration) = 0;
  /// About the time that a check takes; 0: unknown.
  virtual double seconds() const { return 0; }
};

/// Results of the same kernel at another size or on another device.
struct Prior {
  struct Result {
    Configuration configuration;
    std::optional<double> objective;  ///< nullopt: the configuration failed there
  };
  std::vector<Result> results;  ///< only the order and ratios of their objectives count
  double weight = 1;            ///< trust relative to a measurement: 0..1
  std::string origin;           ///< for people: "n=16777216 on NVIDIA H200"
};

struct SessionOptions {
  Budget budget;
  std::string strategy = "auto";
  std::map<std::string, double> strategy_options;
  std::uint64_t seed = 1;
  Objective objective;
  std::optional<Prior> prior;  ///< Given to the strategy at the start. Strategies without a model ignore it.
  bool estimate = true;        ///< Whether the strategy starts from ExpectedTimes if no prior is valid.
  /// Measure the best again even if it has no rival, because metrics are collected only then.
  bool remeasure_one = false;
  /// Checks the winner. If the winner is wrong, the next best takes its place. May be null. The search ends early
  /// enough for a check; its own limit is that of its owner.
  FinalistCheck* check = nullptr;
  /// Results are not verified, and any configuration that ran can be the best. A stored result must say so.
  bool unverified = false;
  /// If set, a session waits at most this long after the wall time, also for its first trial.
  std::optional<std::chrono::milliseconds> grace;
  /// When the wall time begins; nullopt: with the session.
  std::optional<std::chrono::steady_clock::time_point> started;
  /// A signal handler or another thread sets it to end the session. The session withdraws waiting configurations, and
  /// gives up the running one, or the finals, after the present launch.
  const std::atomic<bool>* stop = nullptr;
  /// A stop means that the caller has seen enough, not that it was interrupted: the same request is not searched again.
  bool stop_is_final = false;
};

enum class StopReason { exhausted, wall_time, trials, fraction, target, unlikely, interrupted, device_lost };
std::string_view text(StopReason reason);

/// A smaller improvement of the objective is not worth a search: Budget::until_unlikely does not count it.
inline constexpr double kWorthwhileImprovement = 0.01;

struct SessionResult {
  std::vector<Trial> trials;  ///< resumed ones first, then in order of completion
  std::size_t resumed = 0;
  /// Verified, except with SessionOptions::unverified. nullopt when no configuration worked.
  std::optional<Trial> best;
  /// Configurations as fast as the best within the noise. The best was preferred because it is simpler.
  std::vector<Configuration> ties;
  /// The time of the kernel's default over that of the best, measured side by side among the finalists. If the default
  /// is the best, over that of the fastest other one that may be as fast; 1 if there is none. nullopt: not compared.
  std::optional<TimeRatio> default_over_best;
  /// cache::BestRecord::checked of the best; empty without SessionOptions::check.
  std::string checked;
  double product = 0;
  std::size_t valid = 0;
  SpaceCount::Kind valid_is = SpaceCount::Kind::exact;
  StopReason stop_reason = StopReason::exhausted;
  Effort effort = Effort::none;   ///< that the search reached, with those that it resumed
  TrialTimes times;               ///< summed over the trials of this run
  std::vector<LaneReport> lanes;  ///< empty when there was only one
  double wall_seconds = 0;
};

/// Tunes \p spec for \p size on \p device with \p evaluator. \p store may be null; then nothing is stored. The default
/// configuration is the first trial, whatever the budget, and always a finalist, so the winner is not slower than it
/// beyond the noise. The wall time includes enumerating the space, measuring the finalists again and checking the
/// winner. At its end, or when it is interrupted, a session waits for the launch that runs, but no longer than half a
/// second. Only the first trial may take longer than the wall time. \p evaluator is not used again after that.
/// Throws Error when the space has no valid configuration (naming the constraint that rules out most), and
/// std::invalid_argument for an unknown strategy.
SessionResult run_session(const KernelSpec& spec, const ProblemSize& size, const Device& device, Evaluator& evaluator,
                          TrialStore* store, const SessionOptions& options, Observer* observer);

}  // namespace tuner
