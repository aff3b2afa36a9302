#pragma once
/// The trials of a session: which one leads, which one wins, and whether none can. Private to this room.

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/session/tuning/tune_session.hpp>

namespace tuner {

/// The largest part of the wall time that is reserved for checking the winner.
inline constexpr double kMostForCheck = 0.25;

class Contest {
 public:
  /// All must outlive it; \p store may be null.
  Contest(const KernelSpec& spec, Evaluator& evaluator, TrialStore* store, const SessionOptions& options,
          Observer& observer)
      : spec_(spec), evaluator_(evaluator), store_(store), options_(options), observer_(observer) {}

  double elapsed() const { return seconds_since(start_); }
  double time_left() const {
    return options_.budget.wall_time ? options_.budget.wall_time->count() - elapsed()
                                     : std::numeric_limits<double>::infinity();
  }
  /// Of time_left(), the seconds that are left if the finals take all that they may.
  double time_for_search() const;
  bool must_not_go_on() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  /// Adds \p trial, which may be the best.
  void keep(Trial trial);
  /// Null while nothing has worked.
  const Trial* best() const { return best_ ? &result.trials[*best_] : nullptr; }
  double best_objective() const { return objective_of(*best_); }
  /// Warns once, because the reason is usually the same for all trials.
  void warn_of_missing_metrics(const Trial& trial);

  /// Seconds to reserve for measuring the leaders again, estimated from their samples. Precondition: there is a wall
  /// time.
  double time_for_finalists() const;
  /// Measures the leaders again, side by side and at several placements. Their first measurements were made minutes
  /// apart, at other clock rates. Goes on until nobody is left who may be faster than the winner, or the time is over.
  void settle_finalists();
  /// Asks SessionOptions::check about the winner. If the winner is wrong, asks about the next one.
  void check_winner();
  /// While the store objects to the winner, the next one takes its place.
  void pass_over_quarantined();
  /// Sets SessionResult::default_over_best.
  void compare_with_default();

  SessionResult result;

 private:
  /// One of those that are measured again.
  struct Finalist {
    std::size_t trial = 0;  // position in result.trials
    std::vector<Measurement> placements = {};
    bool in_pairs = true;  // Trial::round was set each time
    double seconds = 0;    // about the time of a round for it
    std::size_t from = 0;  // the round of its first placement
  };

  bool is_sound(const Trial& trial) const;
  bool can_win(const Trial& trial) const;
  void prefer_if_better(std::size_t i);
  double objective_of(std::size_t i) const { return *options_.objective(*result.trials[i].measurement()); }
  bool is_default(std::size_t i) const { return result.trials[i].configuration == spec_.default_configuration; }
  bool goes_before(std::size_t a, std::size_t b) const;
  std::vector<std::size_t> leaders() const;
  std::vector<std::size_t> challengers() const;
  void limit(std::vector<std::size_t>& trials) const;
  double seconds_for(std::size_t i) const;
  double least_time_for(const std::vector<std::size_t>& trials) const;
  std::vector<std::size_t> those_in_time(std::vector<std::size_t> all, double seconds) const;
  double time_for_more(double begun, bool keeps_check) const;
  double seconds_for_round(std::size_t others) const;
  std::optional<Placement> next_placement(std::size_t others, double seconds) const;
  bool measure_again(Placement placement, double seconds);
  void choose_finalist(std::vector<std::size_t> entering, double begun);
  void confirm_time(double begun);
  double time_to_confirm() const;
  void restore(const std::map<std::size_t, Outcome>& outcomes);
  std::span<const Measurement> placements_of_winner() const;
  bool winner_is_known() const;
  double standard_error_of_winner() const;
  bool is_settled() const;
  void choose_from_all();
  void choose_from_finalists();
  TimeRatio compared_finalists(const Finalist& one, const Finalist& other) const;

  const KernelSpec& spec_;
  Evaluator& evaluator_;
  TrialStore* store_;
  const SessionOptions& options_;
  Observer& observer_;
  const Clock::time_point start_ = options_.started.value_or(Clock::now());
  std::optional<std::size_t> best_;  // position in result.trials
  std::vector<Finalist> finals_;     // those that are still in the race
  std::optional<Finalist> beaten_default_;
  std::set<std::size_t> again_;  // were measured again, or could not be
  Placement last_placement_ = Placement::present;
  std::size_t rounds_ = 0;      // of the finals
  double seconds_for_one_ = 0;  // of the last round of the finals, for each of them
  bool lead_is_open_ = false;   // the default is named, but not for certain
  bool has_warned_of_metrics_ = false;
};

/// Whether no configuration can compile, judged by \p trials that all failed alike. Either a file is missing that the
/// text always includes. Or the trials are many, the default is among them, and they have every value of every
/// parameter. Messages that kernels write themselves (`static_assert`, `#error`) may differ elsewhere.
bool none_compiles(const KernelSpec& spec, std::span<const Trial> trials);

}  // namespace tuner
