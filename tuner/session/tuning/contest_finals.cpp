// Finalists: who is measured again, how often, and which of them wins.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/session/tuning/contest.hpp>
#include <tuner/session/wisdom/trial_store.hpp>

namespace tuner {
namespace {

/// Configurations within this factor of the best are measured again, interleaved, before a winner is named.
constexpr double kFinalistFactor = 1.03;
constexpr std::size_t kMostFinalists = 8;
/// Of short kernels many take the same time in the search, so more of them enter if all together take so few seconds.
constexpr std::size_t kMostShortFinalists = 32;
constexpr double kShortFinalists = 0.5;
/// The placements of code and data at which a winner, and whoever ties with it, is measured at least.
constexpr std::size_t kPlacements = 3;
/// There are more of them until the standard error of the winner's time is as small as this part of it. There are also
/// more while the default is named although a finalist leads it by more.
constexpr std::size_t kMostPlacements = 8;
constexpr double kPrecise = 0.005;
/// The largest part of the wall time, or without one of the time so far, for measuring the finalists again.
constexpr double kMostForFinalists = 0.25;
/// With such a noise of the best, others enter the finals, so these get all of that part.
constexpr double kNoisy = 0.02;
/// Without a wall time, the finals may take this time even after a short search.
constexpr double kShortFinals = 2;
/// The samples of a finalist at each placement (MeasureOptions::finalist_rounds and finalist_samples), and some to warm
/// up and verify.
constexpr double kFinalistSamples = kPlacements * 14;
/// The runs of a finalist that even a short time has: to warm up, in three rounds, and to verify.
constexpr double kLeastFinalistRuns = 12;
/// All runs of a finalist, also to warm up and to verify, over its samples.
constexpr double kRunsOverSamples = 1.6;

}  // namespace

/// Positions of the fastest trials, and always that of the default.
std::vector<std::size_t> Contest::leaders() const {
  std::vector<std::size_t> leaders;
  if (!best_) return leaders;
  std::optional<std::size_t> the_default;
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    if (!is_sound(trial) || !options_.objective(*trial.measurement())) continue;
    if (is_default(i)) the_default = i;
    if (can_win(trial) && objective_of(i) <= best_objective() * kFinalistFactor) leaders.push_back(i);
  }
  std::ranges::sort(leaders, [&](auto a, auto b) { return goes_before(a, b); });
  limit(leaders);
  if (the_default && std::ranges::find(leaders, *the_default) == leaders.end()) leaders.push_back(*the_default);
  return leaders;
}

/// Keeps the first of \p trials: as many as enter the finals at once.
void Contest::limit(std::vector<std::size_t>& trials) const {
  double seconds = 0;
  std::size_t count = 0;
  for (; count < std::min(trials.size(), kMostShortFinalists); ++count) {
    seconds += seconds_for(trials[count]);
    if (count >= kMostFinalists && seconds > kShortFinalists) break;
  }
  trials.resize(count);
}

/// Seconds for measuring \p trial at kPlacements, estimated from the samples of the search, as no time is known for
/// those of finals.
double Contest::seconds_for(std::size_t i) const {
  const Trial& trial = result.trials[i];
  if (again_.contains(i))
    return kPlacements * trial.times.load + kFinalistSamples * 1e-9 * trial.measurement()->median_ns;
  const auto samples = static_cast<double>(std::max<std::size_t>(trial.measurement()->samples_ns.size(), 1));
  return kPlacements * trial.times.load + trial.times.measure / samples * kFinalistSamples;
}

/// All whose only measurement lies below the new one of the best, for a time with its interval: the fastest first. They
/// may be faster. So may those that were given up early: the time that they were compared with may have been a lucky
/// one.
std::vector<std::size_t> Contest::challengers() const {
  const auto lies_below = [&](std::size_t i) {
    const Measurement& seen = *result.trials[i].measurement();
    return objective_of(i) < best_objective() && (!options_.objective.is_time() || seen.high_ns < best_objective());
  };
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    if (is_sound(trial) && !again_.contains(i) && options_.objective(*trial.measurement()) && lies_below(i))
      all.push_back(i);
  }
  std::ranges::sort(all, [&](auto a, auto b) { return goes_before(a, b); });
  return all;
}

double Contest::time_for_search() const {
  return options_.budget.wall_time ? time_left() - kMostForFinalists * options_.budget.wall_time->count() : time_left();
}

double Contest::time_for_finalists() const {
  const double most = kMostForFinalists * options_.budget.wall_time->count();
  if (time_left() > most) return 0;  // not needed yet
  if (best_ && result.trials[*best_].measurement()->relative_noise > kNoisy) return most;
  double seconds = 0;
  for (const std::size_t i : those_in_time(leaders(), most)) seconds += seconds_for(i);
  seconds += (kPlacements - 1) * evaluator_.seconds_to_start();
  return std::min(seconds, most);
}

double Contest::least_time_for(const std::vector<std::size_t>& trials) const {
  double seconds = 0;
  for (const std::size_t i : trials) {
    const Trial& trial = result.trials[i];
    seconds += trial.times.load + kLeastFinalistRuns * 1e-9 * trial.measurement()->median_ns;
  }
  return seconds;
}

/// Of \p all, as many as can be measured again in \p seconds: the fastest, and the default. None if those two cannot.
std::vector<std::size_t> Contest::those_in_time(std::vector<std::size_t> all, double seconds) const {
  while (!all.empty() && least_time_for(all) > seconds) {
    if (all.size() <= 2)
      all.clear();
    else
      all.erase(all.end() - (is_default(all.back()) ? 2 : 1));
  }
  return all;
}

/// Seconds that are left for more rounds of finals that began at \p begun. \p keeps_check: without the time for
/// checking the winner, as is right once it is known.
double Contest::time_for_more(double begun, bool keeps_check) const {
  const double spent = elapsed() - begun;
  if (!options_.budget.wall_time)
    return std::max(begun * kMostForFinalists / (1 - kMostForFinalists), kShortFinals) - spent;
  const double wall = options_.budget.wall_time->count();
  const double check = options_.check && keeps_check ? std::min(options_.check->seconds(), kMostForCheck * wall) : 0;
  return std::min(time_left() - check, kMostForFinalists * wall - spent);
}

void Contest::settle_finalists() {
  std::vector<std::size_t> entering = leaders();
  if (!options_.remeasure_one) entering = those_in_time(std::move(entering), time_left());
  // A lone leader may owe its lead to a lucky moment.
  const auto sound = std::ranges::count_if(result.trials, [this](const Trial& trial) { return is_sound(trial); });
  if (entering.empty() || (sound < 2 && !options_.remeasure_one)) return;
  if (time_left() <= 0 || must_not_go_on()) return;
  finals_.clear();
  beaten_default_.reset();
  rounds_ = 0;
  const double begun = elapsed();
  observer_.on_finalists(entering.size());
  choose_finalist(std::move(entering), begun);
  if (again_.empty() || !best_ || must_not_go_on()) return;
  if (const std::size_t left = challengers().size(); left > 0)
    observer_.on_warning(
        fmt::format("the time ended before {} that may be faster {} measured beside the best. A larger "
                    "budget measures {}",
                    left == 1 ? "a configuration" : fmt::format("{} configurations", left), left == 1 ? "was" : "were",
                    left == 1 ? "it" : "them"));
  confirm_time(begun);
}

/// Measures those who enter until nobody is left who may be faster, or the time is over.
void Contest::choose_finalist(std::vector<std::size_t> entering, double begun) {
  std::optional<Placement> placement = Placement::present;
  do {
    for (const std::size_t i : entering) finals_.push_back({.trial = i, .from = rounds_});
    const double most = std::min(time_left(), time_for_more(begun, winner_is_known()));
    if (!measure_again(*placement, *placement == Placement::present ? time_left() : most)) break;
    choose_from_finalists();
    if (!best_) return;
    if (options_.check) options_.check->expect(best()->configuration);
    entering = challengers();
    if (entering.empty() && is_settled()) return;
    limit(entering);
    const double seconds = time_for_more(begun, winner_is_known()) - (winner_is_known() ? time_to_confirm() : 0);
    while (!entering.empty() && !next_placement(entering.size(), seconds)) entering.pop_back();
    if (entering.empty() && is_settled()) break;  // no time for any of them
    placement = next_placement(entering.size(), seconds);
  } while (placement && !must_not_go_on() && finals_.size() + entering.size() > 0);
}

/// The fastest of many was lucky where it was chosen. If that matters, its time and the default's are those of
/// placements after the choice. If the default is faster there, it wins.
void Contest::confirm_time(double begun) {
  const double deviation = standard_error_of_winner() * std::sqrt(double(placements_of_winner().size()));
  if (!options_.objective.is_time() || deviation <= kPrecise * best_objective()) return;
  if (time_for_more(begun, true) < time_to_confirm()) return;
  const std::size_t winner = *best_;
  std::erase_if(finals_, [&](const Finalist& one) { return one.trial != winner && !is_default(one.trial); });
  std::map<std::size_t, Outcome> before;
  for (Finalist& one : finals_) {
    before.emplace(one.trial, result.trials[one.trial].outcome);
    one.placements.clear();
    one.from = 0;
  }
  if (beaten_default_) beaten_default_->in_pairs = false;  // its rounds are over
  lead_is_open_ = false;
  rounds_ = 0;
  do {
    const std::optional<Placement> placement = next_placement(0, time_for_more(begun, true));
    if (!placement || !measure_again(*placement, time_for_more(begun, true))) break;
    if (!can_win(result.trials[winner])) {
      choose_from_all();
      return settle_finalists();
    }
  } while (!placements_of_winner().empty() && !is_settled() && !must_not_go_on());
  if (!winner_is_known()) return restore(before);
  for (const Finalist& one : finals_)
    if (objective_of(one.trial) < best_objective()) best_ = one.trial;
  if (best_ != winner) result.ties.clear();
}

/// Takes back what too few placements said.
void Contest::restore(const std::map<std::size_t, Outcome>& outcomes) {
  for (const auto& [trial, outcome] : outcomes) {
    if (!can_win(result.trials[trial])) continue;
    result.trials[trial].outcome = outcome;
    if (store_) store_->append(result.trials[trial]);
  }
}

/// About the time that confirm_time() takes at kPlacements.
double Contest::time_to_confirm() const { return evaluator_.seconds_to_start() + 2 * kPlacements * seconds_for_one_; }

/// About the time of a round of those that are left and so many others.
double Contest::seconds_for_round(std::size_t others) const {
  double seconds = static_cast<double>(others) * seconds_for_one_;
  for (const Finalist& one : finals_) seconds += one.seconds;
  return seconds;
}

/// New processes take turns with new memory in the same process, which takes less time. nullopt: no time for either.
std::optional<Placement> Contest::next_placement(std::size_t others, double seconds) const {
  const double left = seconds - seconds_for_round(others);
  if (left < 0) return std::nullopt;
  const bool is_new_process = last_placement_ != Placement::new_process && left >= evaluator_.seconds_to_start();
  return is_new_process ? Placement::new_process : Placement::new_memory;
}

/// Modules that are loaded in another order get other places in memory. Returns false if nothing was learnt.
bool Contest::measure_again(Placement placement, double seconds) {
  last_placement_ = placement;
  ++rounds_;
  std::ranges::reverse(finals_);
  std::vector<Configuration> finalists;
  for (const Finalist& one : finals_) finalists.push_back(result.trials[one.trial].configuration);
  const double begun = elapsed();
  std::vector<Trial> again;
  try {
    again = evaluator_.remeasure(
        finalists, seconds, [this] { return must_not_go_on(); }, placement);
  } catch (const Error& error) {
    if (placement == Placement::present) throw;
    observer_.on_warning(fmt::format("the finalists were not measured at another placement: {}", error.what()));
  }
  // A failure of another kind is not the configuration's.
  const auto says_something = [](const Trial& trial) {
    return trial.measurement() != nullptr || trial.crashed || std::holds_alternative<WrongResult>(trial.outcome);
  };
  if (again.size() != finals_.size() || std::ranges::none_of(again, says_something)) return false;
  seconds_for_one_ = (elapsed() - begun) / static_cast<double>(again.size());
  std::vector<Finalist> left;
  for (std::size_t k = 0; k < again.size(); ++k) {
    Finalist& one = finals_[k];
    Trial& trial = result.trials[one.trial];
    result.times += again[k].times;
    one.seconds = trial.times.load + kRunsOverSamples * again[k].times.measure;
    if (!says_something(again[k])) {
      again_.insert(one.trial);
      if (one.placements.empty()) continue;
      one.in_pairs = false;  // it stays in the race with its earlier placements
      left.push_back(std::move(one));
      continue;
    }
    // Metrics are collected the first time only, which may have been in finals before these.
    std::map<std::string, double> metrics;
    if (again_.contains(one.trial) && trial.measurement() != nullptr) metrics = trial.measurement()->metrics;
    metrics.erase("clock_step_ns");
    again_.insert(one.trial);
    if (const Measurement* const first = trial.measurement(); first != nullptr && !trial.search)
      trial.search = SearchTime{first->median_ns, first->low_ns, first->high_ns};
    trial.outcome = again[k].outcome;
    if (const Measurement* const measured = again[k].measurement()) {
      one.placements.push_back(*measured);
      one.in_pairs &= again[k].round != 0;
      Measurement all = combined(one.placements);
      all.metrics.insert(metrics.begin(), metrics.end());
      trial.outcome = std::move(all);
    }
    trial.crashed = again[k].crashed;
    trial.verified = again[k].verified;
    trial.lane = again[k].lane;
    trial.round = again[k].round;
    warn_of_missing_metrics(trial);
    if (store_) store_->append(trial);
    if (can_win(trial)) left.push_back(std::move(one));
  }
  finals_ = std::move(left);
  return true;
}

std::span<const Measurement> Contest::placements_of_winner() const {
  const auto winner = std::ranges::find_if(finals_, [&](const Finalist& one) { return one.trial == best_; });
  return winner == finals_.end() ? std::span<const Measurement>() : winner->placements;
}

bool Contest::winner_is_known() const { return placements_of_winner().size() >= kPlacements; }

/// The standard error of the winner's time over its placements.
double Contest::standard_error_of_winner() const {
  std::vector<double> times;
  for (const Measurement& here : placements_of_winner()) times.push_back(here.median_ns);
  return standard_error(times);
}

/// Whether those that are left were measured at enough places. A metric does not depend on the place.
bool Contest::is_settled() const {
  if (finals_.empty()) return true;
  const bool is_precise = standard_error_of_winner() <= kPrecise * best_objective();
  if (rounds_ < kMostPlacements && (!is_precise || lead_is_open_)) return false;
  // One that says nothing in later rounds has fewer placements for ever.
  return rounds_ >= kMostPlacements ||
         std::ranges::all_of(finals_, [](const Finalist& one) { return one.placements.size() >= kPlacements; });
}

/// For times, leads within the noise are ties (decide()). For any other metric the smallest number wins.
void Contest::choose_from_finalists() {
  if (finals_.empty()) return choose_from_all();
  best_.reset();
  result.ties.clear();
  if (!options_.objective.is_time()) {
    for (const std::size_t i : again_) prefer_if_better(i);
    finals_.clear();  // another measurement of them would say nothing new
    if (!best_) choose_from_all();
    return;
  }
  // Finalists that entered later are compared with the others at the placements that they share.
  const std::size_t shared =
      std::ranges::min(finals_, {}, [](const Finalist& one) { return one.placements.size(); }).placements.size();
  const auto of = [&](const Finalist& one) { return std::span(one.placements).last(shared); };
  DecideOptions how;
  how.min_lead_ns = kPlacementNs;
  for (const Measurement& part : of(finals_.front())) how.placements.push_back(part.samples_ns.size());
  std::vector<Trial> trials;
  for (const Finalist& one : finals_) {
    if (is_default(one.trial)) how.default_at = trials.size();
    Trial& trial = trials.emplace_back(result.trials[one.trial]);
    trial.outcome = combined(of(one));
    const bool same_samples =
        std::ranges::equal(of(one), how.placements, {}, [](const Measurement& part) { return part.samples_ns.size(); });
    trial.round = one.in_pairs && same_samples ? 1 : 0;
  }
  const Standings standings = decide(trials, how);
  best_ = finals_[standings.winner].trial;
  const auto time = [&](std::size_t k) { return trials[k].measurement()->median_ns; };
  lead_is_open_ =
      standings.winner == how.default_at && time(standings.winner) > (1 + kPrecise) * time(standings.fastest);
  for (const std::size_t k : standings.ties) result.ties.push_back(trials[k].configuration);

  // Who is beaten for certain is not measured again.
  std::vector<Finalist> left;
  const Trial& fastest = trials[standings.fastest];
  const double placement = 1 + kPlacementNs / fastest.measurement()->median_ns;
  for (std::size_t k = 0; k < trials.size(); ++k) {
    const double enough = k == how.default_at ? 1 / kClearLead : std::max(kFinalistFactor, placement);
    const bool is_beaten = least_ratio(fastest, trials[k], how.placements) > enough ||
                           (k != how.default_at && is_slower(trials[k], fastest, how.placements));
    if (k == standings.winner || !is_beaten)
      left.push_back(std::move(finals_[k]));
    else if (k == how.default_at)
      beaten_default_ = std::move(finals_[k]);
  }
  finals_ = std::move(left);
}

}  // namespace tuner
