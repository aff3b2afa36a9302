#pragma once
/// A race of configurations over many sizes of one kernel. It ends with a few configurations and a rule by size, after
/// little more trials than the search for one size takes. It proposes and learns; it measures nothing itself.

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <tuner/session/batch/size_cover.hpp>

namespace tuner {

/// The result of a race.
struct JointRule {
  SizeRule rule;
  /// For each size, how much slower its choice is than the best that was measured there; nothing: not measured.
  std::vector<std::optional<double>> regrets;
};

/// Three parts follow each other:
/// - Searches, at a few sizes far from each other, with the usual strategy. Together they have the trials of one size.
/// - Every size is visited once. The configurations that may be the best there are measured, and a model says which. In
///   the model, the logarithm of a time is a sum. One part belongs to the size. The other belongs to the configuration
///   and changes slowly with the size (kriging with an exponential covariance). Configurations that are slow at the
///   sizes around are never proposed again.
/// - What the rule still needs is measured: its choices, also with each size left out, and any that the model expects
///   to be better.
///
/// Source: Jones, Schonlau, Welch, "Efficient global optimization of expensive black-box functions" (1998), for the
/// expected improvement.
class SizeRace {
 public:
  /// What to do next.
  struct Step {
    std::size_t size = 0;
    /// If above 0: search at this size, with this part of the budget of one size. Then learn all its trials.
    double search = 0;
    std::vector<Configuration> measure = {};  ///< otherwise: run these at this size
  };

  /// At most so many trials, in terms of those of the searches, but at least one for each size.
  static constexpr double kMostMeasured = 0.5;

  explicit SizeRace(std::vector<JointSize> sizes, const CoverOptions& options = {});

  /// A trial, in any order, also one that was not proposed. \p time: nothing if it failed. A later time of the same
  /// pair replaces an earlier one.
  void learn(std::size_t size, const Configuration& configuration, std::optional<double> time);
  /// Nothing: the race is over. Otherwise the step must be done before the next call. A pair that is not learnt is not
  /// proposed again.
  std::optional<Step> next();

  /// The expected times at \p size of all configurations that were tried anywhere, up to a common factor; nothing: it
  /// failed where it was tried. A prior for the search of a step.
  std::vector<std::pair<Configuration, std::optional<double>>> outlook(std::size_t size);
  /// How many pairs of a configuration and a size were learnt.
  std::size_t trials() const;
  /// Of them, those that the searches had made when the last one ended.
  std::size_t search_trials() const { return search_trials_; }
  /// The rule so far, with its regret between the sizes. nullopt if no configuration works at some size.
  std::optional<JointRule> rule();

 private:
  using Id = std::size_t;

  /// A configuration.
  struct Racer {
    std::map<std::size_t, double> times;  // logarithms, by size
    std::set<std::size_t> failed;         // sizes
  };
  /// The expected logarithm of a time, less the level of its size.
  struct Expected {
    double mean = 0, deviation = 0;
  };

  bool was_tried(Id id, std::size_t size) const;
  std::size_t left() const;
  double apart(std::size_t a, std::size_t b) const { return distances_[a * sizes_.size() + b]; }
  void choose_anchors();
  /// The configurations that may be the best somewhere, judged at the visited sizes.
  void choose_racers();
  void fit();
  /// From the racer's measurements, without that at \p without, if that is a size.
  std::optional<Expected> expected(Id id, std::size_t size, std::size_t without) const;
  /// At most \p most that may be the best at \p size, the most promising first.
  std::vector<Id> promising(std::size_t size, std::size_t most) const;
  std::optional<Step> visit();
  std::optional<Step> settle();
  /// The choice for \p size of the rule that the other sizes give; nothing outside of their range.
  std::optional<Id> choice_without(std::size_t size, bool guesses) const;
  Step measuring(std::size_t size, const std::vector<Id>& ids);
  /// The rule for all sizes except \p without, from what is measured and, if \p guesses, from what is expected.
  std::optional<SizeCover> cover(bool guesses, std::optional<std::size_t> without = {}) const;
  /// For each size, the least time's logarithm less the size's level: measured, or else expected.
  std::vector<double> best_levels() const;
  std::optional<double> regret(Id id, std::size_t size) const;

  std::vector<JointSize> sizes_;
  CoverOptions options_;
  std::vector<double> distances_;
  double extent_ = 0;  // the largest distance

  std::vector<Configuration> configurations_;  // by id
  std::map<Configuration, Id> ids_;
  std::vector<Racer> all_;  // by id
  std::set<std::pair<Id, std::size_t>> proposed_;
  std::vector<std::size_t> anchors_;        // sizes with a search
  std::size_t searched_ = 0, crossed_ = 0;  // anchors that were searched, and visited again
  std::size_t search_trials_ = 0;
  std::vector<std::size_t> visited_;  // sizes, in their order
  std::set<std::size_t> settled_;     // sizes that need no other look
  std::deque<Step> last_;             // for the sizes between; made once
  bool is_settled_ = false;

  std::vector<Id> racers_;
  std::vector<std::optional<double>> levels_;                    // by size
  std::map<Id, std::vector<std::optional<Expected>>> expected_;  // by racer and size
  double mean_ = 0, variance_ = 0;                               // of a racer, before it is measured
};

}  // namespace tuner
