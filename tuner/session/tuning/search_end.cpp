#include <tuner/session/tuning/search_end.hpp>

#include <algorithm>
#include <chrono>

#include <tuner/search/strategy.hpp>

namespace tuner {
namespace {

/// The check of the leader begins so many seconds before the end, or in the second half of a short time.
constexpr double kNearTheEnd = 2, kTimeToCheck = 15, kCheckAtPart = 0.5;
/// After the end, the launch that runs may take this long.
constexpr double kLastLaunch = 0.5;
/// After so many trials of a session, their pace is that of the others.
constexpr std::size_t kEnoughToPlan = 10;
/// After fewer results, a strategy without an opinion does not end a search.
constexpr std::size_t kManyResults = 1000;

}  // namespace

std::optional<StopReason> SearchEnd::reason(search::Strategy& strategy) const {
  const Budget& budget = options_.budget;
  if (contest_.must_not_go_on()) return StopReason::interrupted;
  if (!evaluator_.usable()) return StopReason::device_lost;
  if (budget.wall_time && !first_.is_missing() &&
      contest_.time_left() <= contest_.time_for_finalists() + time_for_check())
    return StopReason::wall_time;
  const std::size_t started = contest_.result.trials.size() + evaluator_.in_flight();
  if (budget.trials && started >= *budget.trials) return StopReason::trials;
  if (budget.fraction && started >= trial_limit()) return StopReason::fraction;
  if (budget.target && contest_.best() && contest_.best_objective() <= options_.objective.minimised(*budget.target))
    return StopReason::target;
  if (budget.until_unlikely) {
    const std::optional<double> chance =
        contest_.best() ? strategy.improvement_probability(kWorthwhileImprovement) : std::nullopt;
    if (chance ? *chance < *budget.until_unlikely : is_without_hope()) return StopReason::unlikely;
  }
  return std::nullopt;
}

/// For strategies without an opinion, and while nothing is correct: whether so many new results brought no improvement
/// that the next one is unlikely to (Laplace's rule of succession). `exhaustive` is asked to try everything.
bool SearchEnd::is_without_hope() const {
  if (options_.budget.wall_time || options_.strategy == "exhaustive") return false;
  const SessionResult& result = contest_.result;
  const std::size_t first = contest_.best() ? std::size_t(contest_.best() - result.trials.data()) + 1 : 0;
  const std::size_t without = result.trials.size() - std::max(first, result.resumed);
  return without >= kManyResults && 1 / (double(without) + 2) < *options_.budget.until_unlikely;
}

bool SearchEnd::ends_early(const std::optional<StopReason>& reason) {
  return reason && *reason != StopReason::trials && *reason != StopReason::fraction && *reason != StopReason::unlikely;
}

bool SearchEnd::is_over() const {
  if (options_.grace && -contest_.time_left() >= std::chrono::duration<double>(*options_.grace).count()) return true;
  if (contest_.must_not_go_on()) return interrupted_at_ && contest_.elapsed() - *interrupted_at_ >= kLastLaunch;
  return !first_.configuration() && -contest_.time_left() >= kLastLaunch;
}

bool SearchEnd::is_time_to_check(const std::optional<StopReason>& reason, bool is_last) const {
  if (options_.check == nullptr || !contest_.best() || contest_.must_not_go_on() || reason == StopReason::device_lost)
    return false;
  const bool all_are_begun = is_last && (ends_early(reason) || time_for_what_is_begun() <= kNearTheEnd);
  return all_are_begun || contest_.time_left() <= time_to_check();
}

/// How long before the end the check of the leader begins.
double SearchEnd::time_to_check() const {
  const double wall = options_.budget.wall_time ? options_.budget.wall_time->count() : 0;
  return std::max(std::min(kCheckAtPart * wall, kTimeToCheck), kNearTheEnd);
}

/// Seconds to reserve for checking the winner. Precondition: there is a wall time.
double SearchEnd::time_for_check() const {
  return options_.check ? std::min(options_.check->seconds(), kMostForCheck * options_.budget.wall_time->count()) : 0;
}

double SearchEnd::time_for_what_is_begun() const {
  return contest_.elapsed() * double(evaluator_.in_flight()) / double(std::max<std::size_t>(finished(), 1));
}

std::optional<std::size_t> SearchEnd::trials_in_time() const {
  if (!options_.budget.wall_time || trial_limit() || finished() < kEnoughToPlan) return std::nullopt;
  const double each = (contest_.elapsed() - first_ended_at_) / static_cast<double>(finished() - 1);
  const double more = (contest_.time_for_search() - time_for_check()) / std::max(each, 1e-6);
  return contest_.result.trials.size() + static_cast<std::size_t>(std::clamp(more, 0.0, 1e9));
}

void SearchEnd::estimate(Progress& progress) const {
  const std::size_t valid = contest_.result.valid;
  const std::size_t limit = std::min(trial_limit().value_or(valid), valid);
  progress.planned = limit - std::min(limit, contest_.result.resumed);
  double seconds = 0;
  if (progress.finished > 0) {
    const auto left = static_cast<double>(*progress.planned - std::min(*progress.planned, progress.finished));
    seconds = left * progress.elapsed.count() / static_cast<double>(progress.finished);
  }
  if (options_.budget.wall_time) {
    const double left = std::max(0.0, options_.budget.wall_time->count() - progress.elapsed.count());
    if (progress.finished == 0 || left < seconds) {
      seconds = left;
      progress.planned.reset();
    }
  }
  progress.remaining = std::chrono::duration<double>(seconds);
}

}  // namespace tuner
