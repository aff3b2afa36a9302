#pragma once
/// When a session stops to search, and how much it can try until then. Private to this room.

#include <cstddef>
#include <optional>

#include <tuner/core/result/evaluator.hpp>
#include <tuner/session/tuning/contest.hpp>
#include <tuner/session/tuning/first_trial.hpp>

namespace tuner {

namespace search {
class Strategy;
}

class SearchEnd {
 public:
  /// All must outlive it.
  SearchEnd(const Contest& contest, const Evaluator& evaluator, const FirstTrial& first, const SessionOptions& options)
      : contest_(contest), evaluator_(evaluator), first_(first), options_(options) {}

  /// The budget in trials, including resumed ones; nullopt when the budget does not count trials.
  std::optional<std::size_t> trial_limit() const { return options_.budget.trials_of(contest_.result.valid); }
  /// Why nothing more is proposed; nothing while the search continues.
  std::optional<StopReason> reason(search::Strategy& strategy) const;
  /// Whether what waits is withdrawn for \p reason. With a budget in trials, every counted trial must finish. And the
  /// strategy judges only what it has not proposed: what it has, it found promising.
  static bool ends_early(const std::optional<StopReason>& reason);
  /// Notes when the session is interrupted.
  void look_for_interruption() {
    if (contest_.must_not_go_on() && !interrupted_at_) interrupted_at_ = contest_.elapsed();
  }
  /// Whether the session must end without waiting for anything.
  bool is_over() const;
  /// Whether the leader is checked now. Checking the winner takes as long as many trials, so the check of the leader
  /// begins near the end. An earlier leader often does not win, and the number of checks is limited. \p is_last:
  /// nothing more is proposed.
  bool is_time_to_check(const std::optional<StopReason>& reason, bool is_last) const;
  /// Notes when the first trial ends.
  void trial_ended() {
    if (finished() == 1) first_ended_at_ = contest_.elapsed();
  }
  /// For how many trials a time is enough, judged by those so far; nothing while these are few, or if no time ends it.
  std::optional<std::size_t> trials_in_time() const;
  /// Sets what \p progress reports about the rest.
  void estimate(Progress& progress) const;

 private:
  bool is_without_hope() const;
  double time_to_check() const;
  double time_for_check() const;
  double time_for_what_is_begun() const;
  std::size_t finished() const { return contest_.result.trials.size() - contest_.result.resumed; }

  const Contest& contest_;
  const Evaluator& evaluator_;
  const FirstTrial& first_;
  const SessionOptions& options_;
  std::optional<double> interrupted_at_;  // in seconds since the start
  double first_ended_at_ = 0;             // in seconds since the start
};

}  // namespace tuner
