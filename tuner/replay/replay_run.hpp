#pragma once
/// Runs search strategies against recorded spaces and scores them: `tune replay` without its command line and its
/// output.

#include <array>
#include <functional>
#include <map>

#include <tuner/core/result/objective.hpp>
#include <tuner/replay/scorer.hpp>

namespace tuner::replay {

struct ReplayOptions {
  std::vector<std::string> strategies{"auto"};
  std::size_t repeats = 100;
  std::uint64_t seed = 1;  ///< repeat r runs with seed + r
  /// Ends a repeat early. Wall time is recorded time. A target is in nanoseconds, for recorded times only. A limit on
  /// trials, fraction or wall time replaces the usual end of a repeat, which is at 1.1 times the last scored time.
  Budget budget;
  std::map<std::string, double> strategy_options;
  /// Number of proposals that are outstanding at a time, as on a machine that compiles ahead of the device. The
  /// strategy proposes without their results, and may reconsider (Strategy::reconsider()) those that wait. At least 1.
  std::size_t ahead = 1;
  /// The same kernel at another size or on another device. Each strategy gets it before it begins
  /// (Strategy::seed_prior()). Must outlive run_replay().
  const RecordedSpace* prior = nullptr;
  /// Each is proposed before anything else in the spaces that hold it, as a tuning does with a kernel's default.
  std::vector<Configuration> first;
};

/// The numbers of trials after which the best so far is compared with the optimum.
inline constexpr std::array<std::size_t, 6> kShareTrials{1, 5, 8, 10, 20, 50};

/// The length of a repeat of replay_pairs() without a limit.
inline constexpr std::size_t kPairTrials = 20;

/// Shares of the optimum after each of kShareTrials, means over the repeats. Where a repeat has no valid result yet,
/// its share is 0. Where a repeat ended before, its last best counts.
using Shares = std::array<double, kShareTrials.size()>;

/// One strategy on one space.
struct ReplayResult {
  std::string space;
  std::string strategy;
  Score score;
  double mean_trials = 0;          ///< of one repeat
  double cpu_ms_per_proposal = 0;  ///< of the strategy and of looking up rows

  std::size_t repeats_at_optimum = 0;  ///< repeats that found the optimum by the last scored time
  /// Trials until within 1% of the optimum, for each repeat that reached it.
  std::vector<std::size_t> trials_to_percent;
  Shares shares{};
};

struct ReplaySpace {
  std::string name;
  std::string unit;
  std::size_t configurations = 0;
  std::size_t valid = 0;
  double optimum = 0;
  double random_draws = 0;  ///< evaluations of random search until the last scored time
  std::vector<double> times;
  std::vector<double> baseline;
  std::vector<ReplayResult> results = {};  ///< by strategy
};

/// One strategy over all spaces.
struct ReplayAggregate {
  std::string strategy;
  double score = 0;
  double standard_error = 0;
  double relative_to_optimum = 0;  ///< mean over spaces of Score::relative_to_optimum
  Shares shares{};                 ///< means over the spaces
  double cpu_ms_per_proposal = 0;
};

struct ReplayReport {
  std::size_t repeats = 0;
  std::uint64_t seed = 0;
  std::vector<ReplaySpace> spaces;
  std::vector<ReplayAggregate> aggregates;  ///< by strategy
};

/// Called after each (space, strategy), from one thread at a time.
using ReplayObserver = std::function<void(const ReplayResult&)>;

/// Throws std::invalid_argument for an unknown strategy or option, RecordedSpaceError for a recorded space without
/// valid rows. The same options give the same report, except for CPU times, with any number of cores.
ReplayReport run_replay(const std::vector<RecordedSpace>& spaces, const ReplayOptions& options,
                        const ReplayObserver& observer = {});

/// One strategy on one space, without a prior and with one.
struct ReplayPair {
  std::string strategy;
  std::string space;
  std::string prior;
  Shares without{};
  Shares with{};
};

/// Gives each space to each other one as its prior, if they have configurations in common. Without a limit in \p
/// options, a repeat ends after kPairTrials. ReplayOptions::prior is not used. Throws as run_replay(), and
/// std::invalid_argument if there is no pair.
std::vector<ReplayPair> replay_pairs(const std::vector<RecordedSpace>& spaces, const ReplayOptions& options);

}  // namespace tuner::replay
