#pragma once
/// A session never ends empty-handed: one configuration is tried whatever the time. It is the kernel's default if that
/// is valid, else the first that is submitted. It compiles while the space is enumerated, is not withdrawn at the end
/// of the time, and is asked to hurry when half of the time is over. Only an interruption, a lost device and
/// SessionOptions::grace end it. Private to this room.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/result/evaluator.hpp>
#include <tuner/session/tuning/contest.hpp>

namespace tuner {

class FirstTrial {
 public:
  FirstTrial(const Contest& contest, Evaluator& evaluator) : contest_(contest), evaluator_(evaluator) {}

  /// The configuration that is being tried whatever the time; nothing before one is submitted, and after its trial.
  const std::optional<Configuration>& configuration() const { return owed_; }
  /// Whether nothing was tried yet, not even begun: the time then does not end the search.
  bool is_missing() const { return contest_.result.trials.empty() && evaluator_.in_flight() == 0; }
  /// All that a session tries whose time ended before the space was enumerated: this configuration, or the first valid
  /// one.
  std::optional<Configuration> only(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) const {
    return owed_ ? owed_ : first_valid(spec, size, limits, [this] { return contest_.must_not_go_on(); });
  }
  /// How many of \p room configurations may be submitted.
  std::size_t room(std::size_t room) const { return contest_.time_left() > 0 ? room : std::min<std::size_t>(room, 1); }

  /// \p configuration is about to be submitted.
  void submits(const Configuration& configuration) {
    if (is_missing()) owed_ = configuration;
  }
  void ended(const Configuration& configuration) {
    if (owed_ == configuration) owed_.reset();
  }
  /// Hurries when the first trial is late.
  void hurry_if_late(const std::optional<std::chrono::duration<double>>& wall_time) {
    const bool is_late = owed_ && wall_time && contest_.time_left() <= kHurryAtPart * wall_time->count();
    if (is_late && !std::exchange(hurried_, true)) evaluator_.hurry();
  }
  /// Withdraws \p all except the first trial.
  void withdraw_others(std::vector<Configuration> all) {
    if (owed_ && !contest_.must_not_go_on() && evaluator_.usable()) std::erase(all, *owed_);
    evaluator_.abandon(all);
  }

 private:
  static constexpr double kHurryAtPart = 0.5;  // of the wall time
  const Contest& contest_;
  Evaluator& evaluator_;
  std::optional<Configuration> owed_;
  bool hurried_ = false;
};

}  // namespace tuner
