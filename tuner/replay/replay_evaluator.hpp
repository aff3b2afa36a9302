#pragma once
/// Answers a tuning session from a recording: the same strategies, budgets and observers as on a device, without one.

#include <deque>

#include <tuner/core/evaluator.hpp>
#include <tuner/replay/recording.hpp>

namespace tuner::replay {

class ReplayEvaluator final : public Evaluator {
 public:
  /// \p recording must outlive the evaluator. \p capacity: how many trials the session keeps in flight.
  explicit ReplayEvaluator(const Recording& recording, std::size_t capacity = 1)
      : recording_(recording), capacity_(capacity) {}

  std::size_t capacity() const override { return capacity_; }
  /// A configuration that is not recorded becomes an Invalid trial that says so.
  void submit(const Configuration& configuration, double best_ns) override;
  std::size_t in_flight() const override { return waiting_.size(); }
  /// In the order submitted. Objectives in "ms", "us" and "s" become nanoseconds; those in another unit are taken as
  /// nanoseconds. The recorded cost is in TrialTimes::measure.
  std::optional<Event> next_event(std::chrono::duration<double>) override;

  /// Recorded seconds of all trials answered so far.
  double elapsed_seconds() const { return elapsed_seconds_; }

 private:
  const Recording& recording_;
  std::size_t capacity_;
  std::deque<Configuration> waiting_;
  double elapsed_seconds_ = 0;
};

}  // namespace tuner::replay
