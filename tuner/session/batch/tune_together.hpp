#pragma once
/// Tunes several sizes of one kernel together, or answers them from the databases.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/result/size_rule.hpp>
#include <tuner/session/batch/size_race.hpp>
#include <tuner/session/batch/tune_problem.hpp>

namespace tuner {

/// The sizes of a kernel with the same choices.
struct JointJob {
  std::shared_ptr<const KernelSpec> spec;
  std::vector<ProblemSize> sizes;  ///< each once
  std::vector<double> weights;     ///< how often each occurs
  TuningOptions tuning;            ///< its limits are those of one size
};

/// Adds to the weight of each size how often calls of its size class were served without a result. Calls of a class are
/// divided among its sizes.
void weigh_by_misses(JointJob& job, Wisdom& wisdom, const Device& device);

/// The choice of a rule for one size.
struct JointChoice {
  Configuration configuration;
  double median_ns = 0;          ///< 0: it was not measured at this size
  std::optional<double> regret;  ///< how much slower it is than the best that was measured at this size
  bool is_stored = false;        ///< calls of this size are served with it
};

struct JointResult {
  std::optional<SizeRule> rule;      ///< nothing: no configuration works at some size, or it was interrupted
  std::vector<JointChoice> choices;  ///< in the order of the sizes
  std::size_t trials = 0;
  std::size_t search_trials = 0;  ///< of them, for the searches: those of one size
  bool is_known = false;          ///< from the database, nothing was measured
  bool is_interrupted = false;
  bool is_stored = false;  ///< the next request finds the rule in the database
};

/// Receives the events of sizes that are tuned together. The events of a Observer are those of the present step.
class JointListener : public Observer {
 public:
  /// \p step begins. \p trials: how many were made so far.
  virtual void on_step(const ProblemSize& size, const SizeRace::Step& step, std::size_t trials) {
    (void)size, (void)step, (void)trials;
  }
};

/// The two ways in which a race measures: tune_kernel() and try_configurations(), or stand-ins in tests. Both store the
/// trials and return them.
struct JointActions {
  std::function<std::vector<Trial>(const ProblemSize& size, const TuningOptions& options)> search;
  std::function<std::vector<Trial>(const ProblemSize& size, const std::vector<Configuration>& configurations)> measure;
  /// Why a configuration must not be chosen, after other checks than those of its measurement; may be empty.
  std::function<FinalistCheck::Answer(const ProblemSize& size, const Configuration& configuration)> check = {};
};

/// Runs the race of \p job, with the trials of earlier ones, and stores its rule. Each size then has its choice as its
/// best known configuration, unless a tuning of this size by itself found a faster one. The rule is stored with each of
/// these results, so that it is served for other sizes in its range, and in a session of each size. If these sessions
/// have the same rule for all sizes, with as much effort, that is the answer. Results that lack the rule then get it.
/// Misses that the stored rule answers are forgotten. Throws Error if the database is frozen: it has the rule, but not
/// the sessions.
JointResult tune_together(const JointJob& job, const Device& device, Wisdom& wisdom, const JointActions& actions,
                          JointListener& listener, const std::atomic<bool>& stop);
/// The same with tune_kernel() and try_configurations(). \p backend: for work in this process; null: each opens one if
/// it needs it.
JointResult tune_together(const JointJob& job, const Device& device, Wisdom& wisdom, Backend* backend,
                          JointListener& listener, const std::atomic<bool>& stop);

}  // namespace tuner
