#include <tuner/replay/replay_run.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

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
};

/// Where repeats end.
struct Limits {
  double seconds = 0;
  std::size_t trials = 0;
  std::optional<double> target;
  std::optional<double> until_unlikely;
};

Limits limits_of(const Budget& budget, const Recording& recording, const Scorer& scorer) {
  Limits limits{scorer.horizon(), recording.space.size(), budget.target, budget.until_unlikely};
  if (budget.wall_time || budget.trials || budget.fraction) limits.seconds = HUGE_VAL;
  if (budget.wall_time) limits.seconds = budget.wall_time->count();
  if (budget.trials) limits.trials = std::min(limits.trials, *budget.trials);
  if (budget.fraction) {
    const double count = std::ceil(*budget.fraction * static_cast<double>(recording.space.size()));
    limits.trials = std::min(limits.trials, static_cast<std::size_t>(count));
  }
  return limits;
}

/// What a caller who knows his limits tells the strategy: the trials he expects.
std::size_t expected_trials(const Limits& limits, const Scorer& scorer) {
  const double draws = scorer.random_draws() * limits.seconds / scorer.times().back();
  return std::isfinite(draws) ? std::min(limits.trials, static_cast<std::size_t>(draws) + 1) : limits.trials;
}

Run run_once(const Recording& recording, const Scorer& scorer, const Limits& limits, const std::string& strategy_name,
             const ReplayOptions& options, std::uint64_t seed) {
  search::StrategyOptions strategy_options;
  strategy_options.seed = seed;
  strategy_options.expected_trials = expected_trials(limits, scorer);
  strategy_options.values = options.strategy_options;
  Run run;
  const double begin = thread_cpu_seconds();
  const auto strategy = search::make_strategy(strategy_name, recording.space, strategy_options);
  run.cpu_seconds += thread_cpu_seconds() - begin;

  std::vector<EnumeratedSpace::Index> rows;
  double spent = 0;
  double best = HUGE_VAL;
  while (spent <= limits.seconds && rows.size() < limits.trials) {
    const double asked = thread_cpu_seconds();
    const auto proposals = strategy->propose(1);
    run.cpu_seconds += thread_cpu_seconds() - asked;
    if (proposals.empty()) break;
    const auto index = proposals.front();
    const RecordedRow& row = recording.rows[index];
    rows.push_back(index);
    spent += row.eval_seconds;
    search::Observation observation;
    observation.index = index;
    observation.objective = row.objective;
    observation.invalid = row.kind == OutcomeKind::compile || row.kind == OutcomeKind::invalid;
    const double told = thread_cpu_seconds();
    strategy->learn({&observation, 1});
    run.cpu_seconds += thread_cpu_seconds() - told;
    if (row.objective) best = std::min(best, *row.objective);
    if (best <= 1.01 * scorer.optimum() && !run.trials_to_percent) run.trials_to_percent = rows.size();
    if (limits.target && best <= *limits.target) break;
    if (limits.until_unlikely) {
      const auto probability = strategy->improvement_probability(0.01);
      if (probability && *probability < *limits.until_unlikely) break;
    }
  }
  run.trials = rows.size();
  run.curve = scorer.rank_curve(rows);
  run.at_optimum = best <= scorer.optimum();
  return run;
}

/// Repeats are handed to threads one by one; where a repeat runs changes nothing but its CPU time.
std::vector<Run> run_repeats(const Recording& recording, const Scorer& scorer, const std::string& strategy,
                             const ReplayOptions& options) {
  const Limits limits = limits_of(options.budget, recording, scorer);
  std::vector<Run> runs(options.repeats);
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto work = [&] {
    try {
      for (std::size_t r = next++; r < runs.size(); r = next++)
        runs[r] = run_once(recording, scorer, limits, strategy, options, options.seed + r);
    } catch (...) {
      const std::lock_guard lock(failure_lock);
      failure = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < std::min(options.threads, options.repeats); ++t) threads.emplace_back(work);
  work();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
  return runs;
}

ReplayResult summarise(const Recording& recording, const Scorer& scorer, const std::string& strategy,
                       const std::vector<Run>& runs) {
  ReplayResult result;
  result.space = recording.name;
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
  result.repeats_within_percent = result.trials_to_percent.size();
  result.score = scorer.score(curves);
  result.mean_trials = trials / static_cast<double>(runs.size());
  result.cpu_ms_per_proposal = trials > 0 ? 1e3 * cpu / trials : 0;
  return result;
}

std::vector<ReplayAggregate> aggregate(const ReplayReport& report, const std::vector<std::string>& strategies) {
  std::vector<ReplayAggregate> out;
  for (const std::string& strategy : strategies) {
    ReplayAggregate sum{strategy};
    double variance = 0;
    double count = 0;
    for (const ReplayResult& result : report.results) {
      if (result.strategy != strategy) continue;
      sum.score += result.score.value;
      variance += result.score.standard_error * result.score.standard_error;
      sum.cpu_ms_per_proposal += result.cpu_ms_per_proposal;
      ++count;
    }
    if (count == 0) continue;
    sum.score /= count;
    sum.standard_error = std::sqrt(variance) / count;
    sum.cpu_ms_per_proposal /= count;
    out.push_back(sum);
  }
  return out;
}

}  // namespace

ReplayReport run_replay(const std::vector<Recording>& recordings, const ReplayOptions& options,
                        const ReplayObserver& observer) {
  if (options.repeats == 0) throw std::invalid_argument("the number of repeats must be at least 1");
  if (recordings.empty()) throw std::invalid_argument("there is no recording to replay");
  ReplayReport report{options.repeats, options.seed, {}, {}, {}};
  for (const Recording& recording : recordings) {
    const Scorer scorer(recording, options.score);
    report.spaces.push_back({recording.name,
                             recording.unit,
                             recording.space.size(),
                             recording.valid_count(),
                             scorer.optimum(),
                             scorer.random_draws(),
                             {scorer.times().begin(), scorer.times().end()},
                             {scorer.baseline().begin(), scorer.baseline().end()}});
    for (const std::string& strategy : options.strategies) {
      report.results.push_back(
          summarise(recording, scorer, strategy, run_repeats(recording, scorer, strategy, options)));
      if (observer) observer(report.results.back());
    }
  }
  report.aggregates = aggregate(report, options.strategies);
  return report;
}

}  // namespace tuner::replay
