#include <tuner/session/tuning/tune_session.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/search/strategy.hpp>
#include <tuner/session/tuning/contest.hpp>
#include <tuner/session/tuning/expected_times.hpp>
#include <tuner/session/tuning/first_trial.hpp>
#include <tuner/session/tuning/no_result.hpp>
#include <tuner/session/tuning/search_end.hpp>
#include <tuner/session/wisdom/trial_store.hpp>

namespace tuner {
namespace {

using Index = EnumeratedSpace::Index;
using Seconds = std::chrono::duration<double>;

/// How long to wait for an event before checking limits and requests to stop again.
constexpr Seconds kPatience{0.05};

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
          TrialStore* store, const SessionOptions& options, Observer& observer)
      : spec_(spec),
        size_(size),
        device_(device),
        evaluator_(evaluator),
        store_(store),
        options_(options),
        observer_(observer),
        contest_(spec, evaluator, store, options, observer) {
    if (store_) earlier_ = store_->resume();
    begin_with_default();
    enumerate_space();
    search::StrategyOptions strategy_options{options.seed, end_.trial_limit(), options.strategy_options, {}};
    strategy_ = search::make_strategy(options.strategy, space_, strategy_options);
    contest_.result.product = spec.space.product();
  }

  SessionResult run() {
    const std::size_t elsewhere = seed_prior();
    if (const auto standing = store_ ? store_->standing() : std::nullopt) {
      submit_first(standing);
      if (!space_.find(*standing)) store_->give_up_standing();
    }
    for (const Configuration& seed : spec_.seeds) submit_first(seed);
    take_over_earlier_trials();
    announce(elsewhere);
    search();
    const bool done = contest_.result.stop_reason != StopReason::interrupted &&
                      contest_.result.stop_reason != StopReason::device_lost;
    if (done) contest_.settle_finalists();
    spent_.seconds = contest_.elapsed();
    if (done) contest_.check_winner();
    if (done && contest_.must_not_go_on()) contest_.result.stop_reason = StopReason::interrupted;
    contest_.pass_over_quarantined();
    contest_.compare_with_default();
    if (contest_.best()) contest_.result.best = *contest_.best();
    sum_up();
    if (store_) finish_store();
    contest_.result.lanes = evaluator_.lanes();
    contest_.result.wall_seconds = contest_.elapsed();
    return std::move(contest_.result);
  }

 private:
  bool was_cut_short() const {
    const StopReason why = contest_.result.stop_reason;
    return why == StopReason::interrupted || why == StopReason::device_lost;
  }

  /// Notes what the search spent, and the effort that it and those before it reached.
  void sum_up() {
    SessionResult& result = contest_.result;
    spent_.limits = options_.budget;
    spent_.remarks = evaluator_.remarks();
    const bool is_listed = result.valid_is != SpaceCount::Kind::more_than && !space_.is_open();
    if (result.valid_is != SpaceCount::Kind::more_than) spent_.valid = result.valid;
    spent_.nothing_left = result.stop_reason == StopReason::exhausted && spent_.valid > 0 && is_listed;
    Spent reached = spent_;
    if (was_cut_short()) {
      reached.limits = {};
      reached.limits.wall_time = Seconds(spent_.seconds);
    }
    // With a size of 0 all configurations do nothing, so one is enough.
    const bool does_nothing = std::ranges::any_of(size_.sizes, [](const auto& one) { return one.second == 0; });
    const bool is_whole = (is_listed && result.trials.size() >= result.valid) || does_nothing;
    result.effort = is_whole ? Effort::thorough : effort_of(reached, traits(device_.key).is_gpu, options_.objective);
    if (!store_) return;
    // A part of a space says nothing of the rest, and no effort of the whole was spent on it.
    result.effort =
        store_->decides() ? std::max(result.effort, store_->resumed_effort()) : std::min(result.effort, Effort::normal);
  }

  void finish_store() {
    const Trial* const best = contest_.result.best ? &*contest_.result.best : nullptr;
    const bool done =
        !was_cut_short() || (contest_.result.stop_reason == StopReason::interrupted && options_.stop_is_final);
    const std::optional<std::string> stays =
        store_->finish(best, done ? std::optional(spent_) : std::nullopt,
                       {std::string(named(contest_.result.effort).name), contest_.result.checked});
    if (stays)
      observer_.on_warning("the stored best stays, as it was not measured beside the new one: " + *stays +
                           ". With --force and a larger budget both are measured");
  }

  void begin_with_default() {
    const std::optional<Configuration>& common = spec_.default_configuration;
    const bool is_known = common && std::any_of(earlier_.begin(), earlier_.end(),
                                                [&](const Trial& trial) { return trial.configuration == *common; });
    if (!common || is_known || contest_.must_not_go_on() || why_invalid(spec_, size_, device_.limits, *common) ||
        (store_ && store_->quarantined(*common)))
      return;
    first_trial_.submits(*common);
    evaluator_.submit(*common, 0);
  }

  void enumerate_space() {
    try {
      space_ = enumerate(spec_, size_, device_.limits, must_end_);
      contest_.result.valid_is = space_.count().kind;
    } catch (const EnumerationStopped&) {
      if (contest_.must_not_go_on()) throw;
      const std::optional<Configuration> only = first_trial_.only(spec_, size_, device_.limits);
      if (only) space_ = EnumeratedSpace::from_configurations({&*only, 1});
      contest_.result.valid_is = SpaceCount::Kind::more_than;
    }
    contest_.result.valid = space_.size();
    if (space_.empty()) throw Error(ErrorCode::invalid_argument, explain_empty_space(spec_, size_, device_.limits));
    submit_first(spec_.default_configuration);
    if (!first_trial_.configuration()) return;
    submitted_first_ = first_.size();
    if (const std::optional<Index> index = space_.find(*first_trial_.configuration())) submitted_.push_back(*index);
  }

  /// Returns how many results of the prior are valid here.
  std::size_t seed_prior() {
    std::vector<search::Observation> elsewhere;
    if (options_.prior)
      for (const Prior::Result& result : options_.prior->results) {
        const std::optional<Index> index = space_.find(result.configuration);
        if (index) elsewhere.push_back({*index, result.objective});  // else not valid here
      }
    if (!elsewhere.empty())
      strategy_->seed_prior(elsewhere, options_.prior->weight);
    else if (options_.estimate && strategy_->uses_prior())
      expect_times();
    return elsewhere.size();
  }

  void expect_times() {
    expected_.emplace(spec_, size_, device_.limits, space_);
    const std::vector<search::Observation> all = expected_->all(options_.seed, must_end_);
    if (all.empty()) return expected_.reset();
    strategy_->seed_prior(all, 1);
  }

  void take_over_earlier_trials() {
    if (!store_) return;
    std::vector<search::Observation> seen;
    for (Trial& trial : std::exchange(earlier_, {})) {
      const std::optional<Index> index = space_.find(trial.configuration);
      if (!index) continue;  // the space changed since
      if (const auto reason = store_->quarantined(trial.configuration)) trial.outcome = quarantined(*reason);
      seen.push_back(observation(*index, trial, options_.objective));
      std::erase(first_, *index);
      contest_.keep(std::move(trial));
    }
    contest_.result.resumed = contest_.result.trials.size();
    strategy_->learn(seen);
  }

  void announce(std::size_t elsewhere) {
    observer_.on_start({&spec_, &size_, &device_, options_.strategy, contest_.result.product, contest_.result.valid,
                        contest_.result.resumed, elsewhere,
                        options_.prior ? std::string_view(options_.prior->origin) : "", evaluator_.lanes().size(),
                        contest_.result.valid_is});
    const std::vector<std::string> unused = unused_parameters(spec_);
    for (const TuningParameter& parameter : spec_.space.parameters())
      if (contains(unused, parameter.name))
        observer_.on_warning("parameter '" + parameter.name + "' of kernel '" + spec_.name + "' changes nothing: its " +
                             std::to_string(parameter.values.size()) + " values give the same program and launch");
  }

  void search() {
    bool news = false;
    for (;;) {
      const std::optional<StopReason> reason = end_.reason(*strategy_);
      if (!reason && !exhausted_) submit_proposals();
      if (end_.is_time_to_check(reason, reason || exhausted_)) options_.check->expect(contest_.best()->configuration);
      first_trial_.hurry_if_late(options_.budget.wall_time);
      if (evaluator_.in_flight() == 0) {
        if (!reason && !exhausted_) continue;  // all proposals are in quarantine
        contest_.result.stop_reason = reason.value_or(StopReason::exhausted);
        return;
      }
      end_.look_for_interruption();
      if (end_.is_over()) {
        contest_.result.stop_reason = reason.value_or(StopReason::wall_time);
        return;
      }
      if (SearchEnd::ends_early(reason))
        first_trial_.withdraw_others(configurations(submitted_));
      else if (news)
        put_waiting_in_order();
      const bool was_usable = evaluator_.usable();
      std::optional<Event> event = evaluator_.next_event(kPatience);
      news = event.has_value();
      if (!news || !was_usable) continue;  // the trial that lost the device still counts, later ones do not
      std::visit([&](auto& what) { happened(std::move(what)); }, *event);
    }
  }

  void happened(Trial trial) {
    first_trial_.ended(trial.configuration);
    if (const std::optional<Index> index = space_.find(trial.configuration)) forget(*index);
    contest_.result.times += trial.times;
    if (store_) store_->append(trial);
    conclude(std::move(trial));
  }

  void happened(const Compiled& compiled) {
    const std::optional<Index> index = space_.find(compiled.configuration);
    if (!index || is_first(*index)) return;  // the strategy does not decide about these
    strategy_->compiled(*index, compiled.resources);
    waiting_.push_back(*index);
    if (expected_) compiled_[*index] = expected_->of(*index, &compiled.resources).value_or(HUGE_VAL);
  }

  void happened(const Withdrawn& withdrawn) {
    const std::optional<Index> index = space_.find(withdrawn.configuration);
    if (!index) return;
    forget(*index);
    if (is_first(*index)) return;  // no strategy proposed it
    const search::Observation taken_back{*index, std::nullopt, std::nullopt, true};
    strategy_->learn({&taken_back, 1});
    exhausted_ = false;
  }

  void forget(Index index) {
    std::erase(submitted_, index);
    std::erase(waiting_, index);
    compiled_.erase(index);
  }

  std::vector<Configuration> configurations(std::span<const Index> indices) const {
    std::vector<Configuration> out;
    for (const Index index : indices) out.push_back(space_.configuration(index));
    return out;
  }

  /// By now the strategy knows more results, and the compiler's numbers, so it may order waiting configurations anew.
  /// When compilers use the device's cores, dropping a compiled configuration saves less than compiling it has cost.
  void put_waiting_in_order() {
    if (waiting_.size() < 2 || traits(device_.key).shares_cores) return;
    const std::optional<std::vector<Index>> order = strategy_->reconsider(waiting_);
    if (!order) return put_waiting_in_expected_order();
    expected_.reset();  // from now on, the strategy knows better
    evaluator_.prefer(configurations(*order));
    std::vector<Index> given_up;
    for (const Index index : waiting_)
      if (!contains(*order, index)) given_up.push_back(index);
    if (!given_up.empty()) evaluator_.withdraw(configurations(given_up));
  }

  /// The strategy has no opinion yet, but the compiler has told registers and spills.
  void put_waiting_in_expected_order() {
    if (!expected_) return;
    std::vector<Index> order = waiting_;
    std::ranges::stable_sort(order, {}, [this](Index index) { return compiled_.at(index); });
    evaluator_.prefer(configurations(order));
  }

  void submit_proposals() {
    const std::size_t free = evaluator_.capacity() - std::min(evaluator_.capacity(), evaluator_.in_flight());
    // Submits half the capacity at a time, so that proposals share compiles.
    if (contest_.time_left() > 0 && traits(device_.key).batch > 0 && free < evaluator_.capacity() / 2) return;
    std::size_t room = first_trial_.room(free);
    if (const auto limit = end_.trial_limit()) {
      room = std::min(room, *limit - std::min(*limit, contest_.result.trials.size() + evaluator_.in_flight()));
    }
    for (; room > 0 && submitted_first_ < first_.size(); --room) submit(first_[submitted_first_++]);
    while (room > 0) {
      const std::vector<Index> proposals = strategy_->propose(room);
      if (proposals.empty()) {
        exhausted_ = true;
        return;
      }
      for (const Index index : proposals) {
        if (is_first(index)) continue;
        submit(index);
        if (room > 0) --room;
      }
    }
  }

  bool is_first(Index index) const { return contains(first_, index); }

  void submit_first(const std::optional<Configuration>& configuration) {
    const std::optional<Index> index = configuration ? space_.find(*configuration) : std::nullopt;
    if (index && !is_first(*index)) first_.push_back(*index);
  }

  /// Runs a configuration. If it is in quarantine, records a failed trial instead.
  void submit(Index index) {
    const Configuration configuration = space_.configuration(index);
    if (const auto reason = store_ ? store_->quarantined(configuration) : std::nullopt) {
      Trial trial;
      trial.configuration = configuration;
      trial.outcome = quarantined(*reason);
      return conclude(std::move(trial));
    }
    submitted_.push_back(index);
    first_trial_.submits(configuration);
    evaluator_.submit(configuration, contest_.best() ? contest_.best()->measurement()->median_ns : 0);
  }

  static LaunchError quarantined(const std::string& reason) { return {"quarantined, not run again: " + reason}; }

  /// Learns from a trial, whether or not it ran, and reports it.
  void conclude(Trial trial) {
    if (const std::optional<Index> index = space_.find(trial.configuration)) {
      const search::Observation seen = observation(*index, trial, options_.objective);
      strategy_->learn({&seen, 1});
    }
    contest_.warn_of_missing_metrics(trial);
    contest_.keep(std::move(trial));
    end_.trial_ended();
    if (const auto trials = end_.trials_in_time()) strategy_->plan_for(*trials);
    report(contest_.result.trials.back());
    // Not after each trial: it looks at all of them.
    if (std::has_single_bit(contest_.result.trials.size()) && none_compiles(spec_, contest_.result.trials))
      throw Error(ErrorCode::compiler,
                  "no configuration compiles: " + std::string(message(contest_.result.trials.back().outcome)));
  }

  void report(const Trial& trial) {
    Progress progress;
    progress.resumed = contest_.result.resumed;
    progress.finished = contest_.result.trials.size() - contest_.result.resumed;
    progress.elapsed = Seconds(contest_.elapsed());
    progress.best = contest_.best();
    end_.estimate(progress);
    observer_.on_trial(trial, progress);
  }

  const KernelSpec& spec_;
  const ProblemSize& size_;
  const Device& device_;
  Evaluator& evaluator_;
  TrialStore* store_;
  const SessionOptions& options_;
  Observer& observer_;
  Contest contest_;
  FirstTrial first_trial_{contest_, evaluator_};
  SearchEnd end_{contest_, evaluator_, first_trial_, options_};
  const StopHook must_end_ = [this] { return contest_.must_not_go_on() || contest_.time_left() <= 0; };
  EnumeratedSpace space_;
  std::unique_ptr<search::Strategy> strategy_;
  Spent spent_;
  std::vector<Trial> earlier_;  // until they are taken over
  bool exhausted_ = false;
  // Submitted before anything is proposed, so that a tuning never ends with something slower: the kernel's default, the
  // stored best where all is measured again, and the kernel's seeds. Without those that have a trial already.
  std::vector<Index> first_;
  std::size_t submitted_first_ = 0;
  std::vector<Index> submitted_;  // neither finished nor withdrawn
  std::vector<Index> waiting_;    // compiled, and waiting for the device
  std::optional<ExpectedTimes> expected_;
  std::map<Index, double> compiled_;  // the expected times of waiting_, after the compiler's report
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
  Observer nobody;
  return Session(spec, size, device, evaluator, store, options, observer ? *observer : nobody).run();
}

}  // namespace tuner
