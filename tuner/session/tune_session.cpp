#include <tuner/session/tune_session.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include <tuner/backend/traits.hpp>
#include <tuner/core/elapsed.hpp>
#include <tuner/core/error.hpp>
#include <tuner/measure/decide.hpp>
#include <tuner/search/strategy.hpp>
#include <tuner/session/empty_space.hpp>

namespace tuner {
namespace {

using Index = EnumeratedSpace::Index;
using Seconds = std::chrono::duration<double>;

/// How long to wait for an event before limits and wishes to stop are looked at again.
constexpr Seconds kPatience{0.05};
/// At most this part of the wall time is kept for measuring the finalists again.
constexpr double kMostForFinalists = 0.25;
/// Samples of a finalist (MeasureOptions::finalist_rounds and finalist_samples), and some for warming up and verifying.
constexpr double kFinalistSamples = 36;

/// Seconds before the end in which FinalistCheck is told who leads: about what it takes.
constexpr double kNearTheEnd = 2;

/// Budget::until_unlikely asks for improvements of at least this part.
constexpr double kWorthwhileImprovement = 0.01;

search::Observation observation(Index index, const Trial& trial, const Objective& objective) {
  search::Observation seen;
  seen.index = index;
  if (const Measurement* measured = trial.measurement()) seen.objective = objective(*measured);
  seen.resources = trial.resources;
  return seen;
}

/// One run of a session, from the first proposal to the winner.
class Session {
 public:
  Session(const KernelSpec& spec, const ProblemSize& size, const Device& device, Evaluator& evaluator,
          TrialStore* store, const SessionOptions& options, Observer* observer)
      : spec_(spec),
        size_(size),
        device_(device),
        evaluator_(evaluator),
        store_(store),
        options_(options),
        observer_(observer),
        start_(options.started.value_or(Clock::now())),
        space_(enumerate(spec, size, device.limits, [this] { return must_stop(); })) {
    if (space_.empty()) throw Error(ErrorCode::invalid_argument, explain_empty_space(spec, size, device.limits));
    search::StrategyOptions strategy_options{options.seed, trial_limit(), options.strategy_options, {}};
    strategy_ = search::make_strategy(options.strategy, space_, strategy_options);
    tell_prior();
    result_.product = spec.space.product();
    result_.valid = space_.size();
    if (spec.default_configuration) default_ = space_.find(*spec.default_configuration);
  }

  SessionResult run() {
    take_over_earlier_trials();
    announce();
    search();
    const bool done = result_.stop_reason != StopReason::interrupted && result_.stop_reason != StopReason::device_lost;
    if (done) settle_finalists();
    if (done) check_winner();
    if (best_) result_.best = result_.trials[*best_];
    if (store_) store_->finish(result_.best ? &*result_.best : nullptr, done);
    result_.lanes = evaluator_.lanes();
    result_.wall_seconds = elapsed();
    return std::move(result_);
  }

 private:
  /// Whether even the enumeration of the space has to end.
  bool must_stop() const {
    if (options_.stop && options_.stop->load(std::memory_order_relaxed)) return true;
    return options_.budget.wall_time && elapsed() >= options_.budget.wall_time->count();
  }

  double elapsed() const { return seconds_since(start_); }
  double time_left() const {
    return options_.budget.wall_time ? options_.budget.wall_time->count() - elapsed()
                                     : std::numeric_limits<double>::infinity();
  }

  /// Nothing is waited for any more.
  bool is_over() const { return options_.grace && -time_left() >= Seconds(*options_.grace).count(); }

  /// Trials, resumed ones included, after which the budget ends; nothing when it does not count them.
  std::optional<std::size_t> trial_limit() const { return options_.budget.trials_of(space_.size()); }

  void tell_prior() {
    if (!options_.prior) return;
    std::vector<search::Observation> elsewhere;
    for (const Prior::Result& result : options_.prior->results) {
      const std::optional<Index> index = space_.find(result.configuration);
      if (index) elsewhere.push_back({*index, result.objective});  // else not valid here
    }
    known_elsewhere_ = elsewhere.size();
    strategy_->seed_prior(elsewhere, options_.prior->weight);
  }

  void take_over_earlier_trials() {
    if (!store_) return;
    std::vector<search::Observation> seen;
    for (Trial& trial : store_->resume()) {
      const std::optional<Index> index = space_.find(trial.configuration);
      if (!index) continue;  // the space changed since
      if (const auto reason = store_->quarantined(trial.configuration)) trial.outcome = quarantined(*reason);
      seen.push_back(observation(*index, trial, options_.objective));
      if (index == default_) default_is_known_ = true;
      keep(std::move(trial));
    }
    result_.resumed = result_.trials.size();
    strategy_->learn(seen);
  }

  void announce() {
    if (!observer_) return;
    observer_->on_start({&spec_, &size_, &device_, options_.strategy, result_.product, result_.valid, result_.resumed,
                         known_elsewhere_, options_.prior ? std::string_view(options_.prior->origin) : "",
                         evaluator_.lanes().size()});
    const std::vector<std::string> unused = unused_parameters(spec_);
    for (const TuningParameter& parameter : spec_.space.parameters())
      if (std::find(unused.begin(), unused.end(), parameter.name) != unused.end())
        observer_->on_warning("parameter '" + parameter.name + "' of kernel '" + spec_.name +
                              "' changes nothing: its " + std::to_string(parameter.values.size()) +
                              " values give the same program and launch");
  }

  void search() {
    bool news = false;
    for (;;) {
      const std::optional<StopReason> reason = reason_to_stop();
      if (!reason && !exhausted_) submit_proposals();
      expect_winner(reason);
      if (evaluator_.in_flight() == 0) {
        if (!reason && !exhausted_) continue;  // all that was proposed is in quarantine
        result_.stop_reason = reason.value_or(StopReason::exhausted);
        return;
      }
      if (is_over()) {
        result_.stop_reason = StopReason::wall_time;
        return;
      }
      if (ends_early(reason))
        evaluator_.withdraw(configurations(submitted_));
      else if (news)
        put_waiting_in_order();
      const bool was_usable = evaluator_.usable();
      std::optional<Event> event = evaluator_.next_event(kPatience);
      news = event.has_value();
      if (!news || !was_usable) continue;  // the trial that lost the device still counts, those behind it do not
      std::visit([&](auto& what) { happened(std::move(what)); }, *event);
    }
  }

  void happened(Trial trial) {
    if (const std::optional<Index> index = space_.find(trial.configuration)) forget(*index);
    result_.times += trial.times;
    if (store_) store_->append(trial);
    conclude(std::move(trial));
  }

  void happened(const Compiled& compiled) {
    const std::optional<Index> index = space_.find(compiled.configuration);
    if (!index || index == default_) return;  // the default runs whatever the strategy thinks of it
    strategy_->compiled(*index, compiled.resources);
    waiting_.push_back(*index);
  }

  void happened(const Withdrawn& withdrawn) {
    const std::optional<Index> index = space_.find(withdrawn.configuration);
    if (!index) return;
    forget(*index);
    if (index == default_) return;  // nobody proposed it
    const search::Observation taken_back{*index, std::nullopt, std::nullopt, true};
    strategy_->learn({&taken_back, 1});
    exhausted_ = false;
  }

  /// Its output was seen to be right, and it did not take down what ran it, even after it was measured: then it is in
  /// quarantine.
  bool is_sound(const Trial& trial) const {
    return (trial.verified || options_.unverified) && trial.measurement() != nullptr && !trial.crashed;
  }
  /// A measurement that was stopped early says "slower than the best of that moment", not how fast.
  bool can_win(const Trial& trial) const { return is_sound(trial) && !trial.measurement()->abandoned; }

  void forget(Index index) {
    std::erase(submitted_, index);
    std::erase(waiting_, index);
  }

  /// A counted budget wants every trial it counted; all other ends need not wait for what has not started.
  static bool ends_early(const std::optional<StopReason>& reason) {
    return reason && *reason != StopReason::trials && *reason != StopReason::fraction;
  }

  /// Looking at the winner by other means takes as long as many trials: it may begin with who leads near the end. Not
  /// earlier, as who leads then may not win, and only so many are looked at.
  void expect_winner(const std::optional<StopReason>& reason) {
    if (options_.check == nullptr || !best_ || must_not_go_on() || reason == StopReason::device_lost) return;
    const bool all_are_begun =
        (reason || exhausted_) && (ends_early(reason) || time_for_what_is_begun() <= kNearTheEnd);
    if (all_are_begun || time_left() <= kNearTheEnd) options_.check->expect(result_.trials[*best_].configuration);
  }

  double time_for_what_is_begun() const {
    const std::size_t finished = result_.trials.size() - result_.resumed;
    return elapsed() * double(evaluator_.in_flight()) / double(std::max<std::size_t>(finished, 1));
  }

  std::vector<Configuration> configurations(std::span<const Index> indices) const {
    std::vector<Configuration> out;
    for (const Index index : indices) out.push_back(space_.configuration(index));
    return out;
  }

  /// The strategy knows more than when it proposed what waits: of results, and from the compiler. Where compilers take
  /// their time from the device's cores, giving up a compiled configuration saves less than its compile cost.
  void put_waiting_in_order() {
    if (waiting_.size() < 2 || traits(device_.key).shares_cores) return;
    const std::optional<std::vector<Index>> order = strategy_->reconsider(waiting_);
    if (!order) return;
    evaluator_.prefer(configurations(*order));
    std::vector<Index> given_up;
    for (const Index index : waiting_)
      if (std::find(order->begin(), order->end(), index) == order->end()) given_up.push_back(index);
    if (!given_up.empty()) evaluator_.withdraw(configurations(given_up));
  }

  std::optional<StopReason> reason_to_stop() {
    const Budget& budget = options_.budget;
    if (options_.stop && options_.stop->load(std::memory_order_relaxed)) return StopReason::interrupted;
    if (!evaluator_.usable()) return StopReason::device_lost;
    if (budget.wall_time && time_left() <= time_for_finalists()) return StopReason::wall_time;
    const std::size_t started = result_.trials.size() + evaluator_.in_flight();
    if (budget.trials && started >= *budget.trials) return StopReason::trials;
    if (budget.fraction && started >= trial_limit()) return StopReason::fraction;
    if (budget.target && best_ && best_objective() <= *budget.target) return StopReason::target;
    if (budget.until_unlikely && best_) {
      const std::optional<double> chance = strategy_->improvement_probability(kWorthwhileImprovement);
      if (chance && *chance < *budget.until_unlikely) return StopReason::unlikely;
    }
    return std::nullopt;
  }

  void submit_proposals() {
    std::size_t room = evaluator_.capacity() - std::min(evaluator_.capacity(), evaluator_.in_flight());
    // Half of all at a time, so that they share compiles. One by one, each proposal would need its own compile.
    if (traits(device_.key).batch > 0 && room < evaluator_.capacity() / 2) return;
    if (const auto limit = trial_limit()) {
      room = std::min(room, *limit - std::min(*limit, result_.trials.size() + evaluator_.in_flight()));
    }
    // Whatever comes of the search: nobody shall be worse off than without it.
    if (room > 0 && default_ && !default_is_known_) {
      submit(*default_);
      --room;
    }
    while (room > 0) {
      const std::vector<Index> proposals = strategy_->propose(room);
      if (proposals.empty()) {
        exhausted_ = true;
        return;
      }
      for (const Index index : proposals) {
        if (index == default_ && default_is_known_) continue;  // its trial is, or will be, the answer
        submit(index);
        if (room > 0) --room;
      }
    }
  }

  /// Or refuses it, which counts as a trial.
  void submit(Index index) {
    const Configuration configuration = space_.configuration(index);
    if (index == default_) default_is_known_ = true;
    if (const auto reason = store_ ? store_->quarantined(configuration) : std::nullopt) {
      Trial trial;
      trial.configuration = configuration;
      trial.outcome = quarantined(*reason);
      return conclude(std::move(trial));
    }
    submitted_.push_back(index);
    evaluator_.submit(configuration, best_ ? result_.trials[*best_].measurement()->median_ns : 0);
  }

  static LaunchError quarantined(const std::string& reason) { return {"quarantined, not run again: " + reason}; }

  /// Whatever became of it, and whether or not it ran.
  void conclude(Trial trial) {
    if (const std::optional<Index> index = space_.find(trial.configuration)) {
      const search::Observation seen = observation(*index, trial, options_.objective);
      strategy_->learn({&seen, 1});
    }
    tell_of_missing_metrics(trial);
    keep(std::move(trial));
    report(result_.trials.back());
  }

  /// Once: the reason is seldom another for the next trial.
  void tell_of_missing_metrics(const Trial& trial) {
    const Measurement* const measured = trial.measurement();
    if (!observer_ || measured == nullptr || measured->no_metrics.empty()) return;
    if (!std::exchange(told_of_metrics_, true)) observer_->on_warning("metrics are missing: " + measured->no_metrics);
  }

  void keep(Trial trial) {
    result_.trials.push_back(std::move(trial));
    prefer_if_better(result_.trials.size() - 1);
  }

  void prefer_if_better(std::size_t i) {
    if (!can_win(result_.trials[i])) return;
    const std::optional<double> objective = options_.objective(*result_.trials[i].measurement());
    if (objective && (!best_ || *objective < best_objective())) best_ = i;
  }

  double objective_of(std::size_t i) const { return *options_.objective(*result_.trials[i].measurement()); }
  double best_objective() const { return objective_of(*best_); }

  void report(const Trial& trial) {
    if (!observer_) return;
    Progress progress;
    progress.resumed = result_.resumed;
    progress.finished = result_.trials.size() - result_.resumed;
    progress.elapsed = Seconds(elapsed());
    progress.best = best_ ? &result_.trials[*best_] : nullptr;
    estimate(progress);
    observer_->on_trial(trial, progress);
  }

  void estimate(Progress& progress) const {
    const std::size_t limit = std::min(trial_limit().value_or(space_.size()), space_.size());
    progress.planned = limit - std::min(limit, result_.resumed);
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
    progress.remaining = Seconds(seconds);
  }

  /// Positions of the fastest, the default among them wherever it stands.
  std::vector<std::size_t> leaders() const {
    std::vector<std::size_t> leaders;
    if (!best_) return leaders;
    std::optional<std::size_t> the_default;
    for (std::size_t i = 0; i < result_.trials.size(); ++i) {
      const Trial& trial = result_.trials[i];
      if (!is_sound(trial) || !options_.objective(*trial.measurement())) continue;
      if (trial.configuration == spec_.default_configuration) the_default = i;
      if (can_win(trial) && objective_of(i) <= best_objective() * options_.finalist_factor) leaders.push_back(i);
    }
    std::sort(leaders.begin(), leaders.end(), [&](auto a, auto b) { return objective_of(a) < objective_of(b); });
    if (leaders.size() > options_.max_finalists) leaders.resize(options_.max_finalists);
    if (the_default && std::find(leaders.begin(), leaders.end(), *the_default) == leaders.end())
      leaders.push_back(*the_default);
    return leaders;
  }

  /// Seconds to keep for measuring the leaders again, by what their samples took.
  double time_for_finalists() const {
    const double most = kMostForFinalists * options_.budget.wall_time->count();
    if (time_left() > most) return 0;  // need not be known yet
    double seconds = 0;
    for (const std::size_t i : leaders()) {
      const Trial& trial = result_.trials[i];
      const auto samples = static_cast<double>(std::max<std::size_t>(trial.measurement()->samples_ns.size(), 1));
      seconds += trial.times.load + trial.times.measure / samples * kFinalistSamples;
    }
    return std::min(seconds, most);
  }

  /// Measures the leaders again, side by side: the first measurements were made minutes apart, under other clocks.
  void settle_finalists() {
    const std::vector<std::size_t> all = leaders();
    if (all.empty() || (all.size() < 2 && !options_.remeasure_one) || time_left() <= 0) return;
    if (observer_) observer_->on_finalists(all.size());
    measure_again(all);
    choose_winner(all);
    confirm_winner(all);
  }

  void measure_again(const std::vector<std::size_t>& all) {
    std::vector<Configuration> finalists;
    for (const std::size_t i : all) finalists.push_back(result_.trials[i].configuration);
    const std::vector<Trial> again = evaluator_.remeasure(finalists, time_left());
    for (std::size_t k = 0; k < again.size() && k < all.size(); ++k) {
      result_.times += again[k].times;
      // Lost on the way through no fault of its own: the first measurement stands.
      const bool guilty = again[k].crashed || std::holds_alternative<WrongResult>(again[k].outcome);
      if (!again[k].measurement() && !guilty) continue;
      Trial& trial = result_.trials[all[k]];
      trial.outcome = again[k].outcome;
      trial.crashed = again[k].crashed;
      trial.verified = again[k].verified;
      trial.lane = again[k].lane;
      trial.round = again[k].round;
      tell_of_missing_metrics(trial);
      if (store_) store_->append(trial);
    }
  }

  /// The fastest of several owes part of its lead to luck, and to where its code and data happened to lie: one that is
  /// near the default has to be ahead of it once more, loaded anew and with nothing between the two. One that then no
  /// longer works leaves its place to the next.
  void confirm_winner(const std::vector<std::size_t>& finalists) {
    const auto at = std::find_if(result_.trials.rbegin(), result_.trials.rend(), [&](const Trial& trial) {
      return trial.configuration == spec_.default_configuration && can_win(trial);
    });
    if (!best_ || at == result_.trials.rend() || !options_.objective.is_time() || time_left() <= 0) return;
    const auto the_default = static_cast<std::size_t>(result_.trials.rend() - at) - 1;
    if (*best_ == the_default || best_objective() < kClearLead * objective_of(the_default)) return;
    const std::size_t winner = *best_;
    measure_again({winner, the_default});
    if (!can_win(result_.trials[winner])) {
      choose_winner(finalists);
      return confirm_winner(finalists);
    }
    if (!can_win(result_.trials[the_default])) return;
    const std::vector<Trial> pair{result_.trials[winner], result_.trials[the_default]};
    DecideOptions how;
    how.default_at = 1;
    how.min_lead_ns = kPlacementNs;
    if (decide(pair, how).winner == 0) return;
    best_ = the_default;
    result_.ties = {result_.trials[winner].configuration};
  }

  /// The winner has to be right by other means too, and so has whoever takes its place.
  void check_winner() {
    while (options_.check != nullptr && best_ && !must_not_go_on()) {
      Trial& winner = result_.trials[*best_];
      const std::optional<WrongResult> wrong = options_.check->wrong(winner.configuration);
      if (!wrong) {
        const std::string reason = options_.check->why_not();
        if (observer_ && !reason.empty())
          observer_->on_warning("the best is not looked at for races on the host: " + reason);
        return;
      }
      winner.outcome = *wrong;
      winner.verified = false;
      if (store_) store_->append(winner);
      if (observer_) observer_->on_warning("passed over: " + winner.configuration.text() + ": " + wrong->message);
      choose_winner({});
      settle_finalists();
    }
  }
  bool must_not_go_on() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  /// By time, leads within the noise are ties (decide()); by any other metric the smallest number wins.
  void choose_winner(std::vector<std::size_t> finalists) {
    std::erase_if(finalists, [&](std::size_t i) { return !can_win(result_.trials[i]); });
    best_.reset();
    result_.ties.clear();
    if (finalists.empty()) {
      for (std::size_t i = 0; i < result_.trials.size(); ++i) prefer_if_better(i);
      return;
    }
    if (!options_.objective.is_time()) {
      for (const std::size_t i : finalists) prefer_if_better(i);
      return;
    }
    std::vector<Trial> trials;
    for (const std::size_t i : finalists) trials.push_back(result_.trials[i]);
    DecideOptions how;
    for (std::size_t k = 0; k < trials.size(); ++k)
      if (trials[k].configuration == spec_.default_configuration) how.default_at = k;
    const Standings standings = decide(trials, how);
    best_ = finalists[standings.winner];
    for (const std::size_t k : standings.ties) result_.ties.push_back(trials[k].configuration);
  }

  const KernelSpec& spec_;
  const ProblemSize& size_;
  const Device& device_;
  Evaluator& evaluator_;
  TrialStore* store_;
  const SessionOptions& options_;
  Observer* observer_;
  const Clock::time_point start_;
  EnumeratedSpace space_;
  std::unique_ptr<search::Strategy> strategy_;
  bool exhausted_ = false;
  std::size_t known_elsewhere_ = 0;
  std::optional<Index> default_;   // the kernel's own configuration, where it is valid here
  bool default_is_known_ = false;  // or about to be
  bool told_of_metrics_ = false;
  std::vector<Index> submitted_;     // and neither finished nor withdrawn
  std::vector<Index> waiting_;       // compiled, for the device
  std::optional<std::size_t> best_;  // position in result_.trials
  SessionResult result_;
};

}  // namespace

std::string_view text(StopReason reason) {
  constexpr std::string_view names[] = {
      "space exhausted", "time budget spent",    "trial budget spent", "fraction of the space tried",
      "target reached",  "improvement unlikely", "interrupted",        "device lost"};
  return names[static_cast<std::size_t>(reason)];
}

SessionResult run_session(const KernelSpec& spec, const ProblemSize& size, const Device& device, Evaluator& evaluator,
                          TrialStore* store, const SessionOptions& options, Observer* observer) {
  return Session(spec, size, device, evaluator, store, options, observer).run();
}

}  // namespace tuner
