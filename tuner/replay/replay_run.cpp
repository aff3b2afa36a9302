#include <tuner/replay/replay_run.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <stdexcept>

#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::replay {
namespace {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// One repeat.
struct Run {
  RankCurve curve;
  std::size_t trials = 0;
  double cpu_seconds = 0;
  bool at_optimum = false;
  std::optional<std::size_t> trials_to_percent;
  Shares shares{};
};

/// A repeat ends at the first of these.
struct Limits {
  double seconds = 0;
  std::size_t trials = 0;
  double target = -HUGE_VAL;  // in the space's unit
};

Limits limits_of(const Budget& budget, const RecordedSpace& recorded, const Scorer& scorer) {
  Limits limits{scorer.horizon(), recorded.space->size()};
  if (budget.wall_time || budget.trials || budget.fraction) limits.seconds = HUGE_VAL;
  if (budget.wall_time) limits.seconds = budget.wall_time->count();
  limits.trials = std::min(limits.trials, budget.trials_of(limits.trials).value_or(limits.trials));
  if (budget.target && recorded.unit != "ns" && recorded.unit != "ms")
    throw std::invalid_argument("a target is a time, and the objective of '" + recorded.name + "' is not a time");
  if (budget.target) limits.target = *budget.target / (recorded.unit == "ms" ? 1e6 : 1);
  return limits;
}

/// The number of trials that a repeat is expected to make, for the strategy.
std::size_t expected_trials(const Limits& limits, const Scorer& scorer) {
  const double draws = scorer.random_draws() * limits.seconds / scorer.times().back();
  return std::isfinite(draws) ? std::min(limits.trials, static_cast<std::size_t>(draws) + 1) : limits.trials;
}

/// Lets \p strategy put the proposals that wait in another order, or take some back.
void reconsider(search::Strategy& strategy, std::vector<EnumeratedSpace::Index>& waiting) {
  if (waiting.size() < 2) return;
  auto order = strategy.reconsider(waiting);
  if (!order) return;
  for (const auto index : waiting) {
    if (contains(*order, index)) continue;
    const search::Observation taken_back{index, std::nullopt, std::nullopt, true};
    strategy.learn({&taken_back, 1});
  }
  waiting = std::move(*order);
}

/// The results in \p prior of configurations that \p recorded has too.
std::vector<search::Observation> shared_results(const RecordedSpace& prior, const RecordedSpace& recorded) {
  std::vector<search::Observation> out;
  for (EnumeratedSpace::Index row = 0; row < prior.rows.size(); ++row)
    if (const auto index = recorded.space->find(prior.space->configuration(row)))
      out.push_back({*index, prior.rows[row].objective, prior.rows[row].resources});
  return out;
}

Run run_once(const RecordedSpace& recorded, const Scorer& scorer, const Limits& limits,
             const std::string& strategy_name, const ReplayOptions& options, std::span<const search::Observation> prior,
             std::uint64_t seed) {
  search::StrategyOptions strategy_options{seed, expected_trials(limits, scorer), options.strategy_options, {}};
  for (const Configuration& configuration : options.first)
    if (const auto index = recorded.space->find(configuration)) strategy_options.first.push_back(*index);
  const double begin = thread_cpu_seconds();
  const auto strategy = search::make_strategy(strategy_name, *recorded.space, strategy_options);
  if (!prior.empty()) strategy->seed_prior(prior, 1);
  Run run;
  std::vector<EnumeratedSpace::Index> rows;
  std::vector<EnumeratedSpace::Index> waiting;  // proposed and compiled
  double spent = 0;
  double best = HUGE_VAL;
  while (spent <= limits.seconds && rows.size() < limits.trials) {
    const std::size_t room = std::min(options.ahead, limits.trials - rows.size()) - waiting.size();
    for (const auto index : strategy->propose(room)) {
      waiting.push_back(index);
      if (options.ahead > 1 && recorded.rows[index].resources)
        strategy->compiled(index, *recorded.rows[index].resources);
    }
    if (waiting.empty()) break;
    reconsider(*strategy, waiting);
    const auto index = waiting.front();
    waiting.erase(waiting.begin());
    const RecordedRow& row = recorded.rows[index];
    rows.push_back(index);
    spent += row.eval_seconds;
    const search::Observation seen{index, row.objective, row.resources};
    strategy->learn({&seen, 1});
    if (row.objective) best = std::min(best, *row.objective);
    if (std::isfinite(best))
      for (std::size_t i = 0; i < kShareTrials.size(); ++i)
        if (rows.size() <= kShareTrials[i]) run.shares[i] = share_of_optimum(scorer.optimum(), best);
    if (best <= 1.01 * scorer.optimum() && !run.trials_to_percent) run.trials_to_percent = rows.size();
    if (best <= limits.target) break;
    if (options.budget.until_unlikely) {
      const auto probability = strategy->improvement_probability(0.01);
      if (probability && *probability < *options.budget.until_unlikely) break;
    }
  }
  run.trials = rows.size();
  run.cpu_seconds = thread_cpu_seconds() - begin;
  run.curve = scorer.rank_curve(rows);
  run.at_optimum = best <= scorer.optimum();
  return run;
}

/// The thread of a repeat changes nothing except its CPU time.
std::vector<Run> run_repeats(const RecordedSpace& recorded, const Scorer& scorer, const std::string& strategy,
                             const ReplayOptions& options, const std::vector<search::Observation>& prior) {
  const Limits limits = limits_of(options.budget, recorded, scorer);
  std::vector<Run> runs(options.repeats);
  on_all_cores(runs.size(), [&](std::size_t r) {
    runs[r] = run_once(recorded, scorer, limits, strategy, options, prior, options.seed + r);
  });
  return runs;
}

Shares mean_shares(const std::vector<Run>& runs) {
  Shares mean{};
  for (const Run& run : runs)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += run.shares[i] / static_cast<double>(runs.size());
  return mean;
}

ReplayResult summarise(const RecordedSpace& recorded, const Scorer& scorer, const std::string& strategy,
                       const std::vector<Run>& runs) {
  ReplayResult result;
  result.space = recorded.name;
  result.strategy = strategy;
  std::vector<RankCurve> curves;
  double trials = 0;
  double cpu = 0;
  for (const Run& run : runs) {
    curves.push_back(run.curve);
    trials += static_cast<double>(run.trials);
    cpu += run.cpu_seconds;
    result.repeats_at_optimum += run.at_optimum;
    if (run.trials_to_percent) result.trials_to_percent.push_back(*run.trials_to_percent);
  }
  result.shares = mean_shares(runs);
  result.score = scorer.score(curves);
  result.mean_trials = trials / static_cast<double>(runs.size());
  result.cpu_ms_per_proposal = trials > 0 ? 1e3 * cpu / trials : 0;
  return result;
}

/// The means of strategy \p number over the spaces.
ReplayAggregate aggregate(const ReplayReport& report, std::size_t number, const std::string& strategy) {
  ReplayAggregate mean{strategy};
  const double share = 1 / static_cast<double>(report.spaces.size());
  double variance = 0;
  for (const ReplaySpace& space : report.spaces) {
    const ReplayResult& result = space.results[number];
    mean.score += share * result.score.value;
    variance += result.score.standard_error * result.score.standard_error;
    mean.relative_to_optimum += share * result.score.relative_to_optimum;
    for (std::size_t i = 0; i < mean.shares.size(); ++i) mean.shares[i] += share * result.shares[i];
    mean.cpu_ms_per_proposal += share * result.cpu_ms_per_proposal;
  }
  mean.standard_error = share * std::sqrt(variance);
  return mean;
}

void check(const std::vector<RecordedSpace>& spaces, const ReplayOptions& options) {
  if (options.ahead == 0) throw std::invalid_argument("at least one proposal must be outstanding");
  if (options.repeats == 0) throw std::invalid_argument("the number of repeats must be at least 1");
  if (spaces.empty()) throw std::invalid_argument("there is no recorded space to replay");
}

}  // namespace

ReplayReport run_replay(const std::vector<RecordedSpace>& spaces, const ReplayOptions& options,
                        const ReplayObserver& observer) {
  check(spaces, options);
  ReplayReport report{options.repeats, options.seed, {}, {}};
  for (const RecordedSpace& recorded : spaces) {
    const Scorer scorer(recorded);
    const auto prior = options.prior ? shared_results(*options.prior, recorded) : std::vector<search::Observation>{};
    if (options.prior && prior.empty())
      throw std::invalid_argument("'" + options.prior->name + "' has no configuration in common with '" +
                                  recorded.name + "'");
    ReplaySpace& space = report.spaces.emplace_back(
        ReplaySpace{recorded.name, recorded.unit, recorded.space->size(), recorded.valid_count(), scorer.optimum(),
                    scorer.random_draws(), scorer.times(), scorer.baseline()});
    for (const std::string& strategy : options.strategies) {
      const std::vector<Run> runs = run_repeats(recorded, scorer, strategy, options, prior);
      space.results.push_back(summarise(recorded, scorer, strategy, runs));
      if (observer) observer(space.results.back());
    }
  }
  for (std::size_t i = 0; i < options.strategies.size(); ++i)
    report.aggregates.push_back(aggregate(report, i, options.strategies[i]));
  return report;
}

std::vector<ReplayPair> replay_pairs(const std::vector<RecordedSpace>& spaces, const ReplayOptions& options) {
  check(spaces, options);
  ReplayOptions limited = options;
  if (!limited.budget.wall_time && !limited.budget.fraction && !limited.budget.trials)
    limited.budget.trials = kPairTrials;
  std::vector<ReplayPair> pairs;
  for (const RecordedSpace& recorded : spaces) {
    const Scorer scorer(recorded);
    std::map<std::string, Shares> without;  // by strategy
    for (const RecordedSpace& other : spaces) {
      const auto prior = &other == &recorded ? std::vector<search::Observation>{} : shared_results(other, recorded);
      if (prior.empty()) continue;
      for (const std::string& strategy : options.strategies) {
        const auto shares = [&](const std::vector<search::Observation>& known) {
          return mean_shares(run_repeats(recorded, scorer, strategy, limited, known));
        };
        if (!without.contains(strategy)) without[strategy] = shares({});
        pairs.push_back({strategy, recorded.name, other.name, without[strategy], shares(prior)});
      }
    }
  }
  if (pairs.empty()) throw std::invalid_argument("no two of these spaces have a configuration in common");
  return pairs;
}

}  // namespace tuner::replay
