#include <tuner/tune.hpp>

#include <algorithm>
#include <atomic>

#include <tuner/backend/traits.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/error.hpp>
#include <tuner/runtime/background/renewal.hpp>
#include <tuner/runtime/decide/decide.hpp>
#include <tuner/runtime/interfaces/leaving.hpp>
#include <tuner/runtime/interfaces/measured_result.hpp>
#include <tuner/runtime/interfaces/served_kernel.hpp>
#include <tuner/session/batch/stored_answer.hpp>
#include <tuner/session/batch/tune_together.hpp>
#include <tuner/session/tuning/no_result.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/spent.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

constexpr const char* kNeedsMeasurements =
    " needs measurements, and with Effort::none (TuneOptions::effort, else TUNER_EFFORT, else Settings::effort) there "
    "are none: set TuneOptions::effort to quick or more";

/// The caller's function, and its wish to stop.
struct Callback {
  void operator()(std::size_t finished, const Trial* best) const {
    const double best_ns = best ? best->measurement()->median_ns : 0;
    try {
      if (options.on_trial && !options.on_trial(finished, best_ns)) stop = true;
    } catch (...) {
      throw runtime::FromCaller{std::current_exception()};
    }
  }
  const TuneOptions& options;
  std::atomic<bool>& stop;
};

class CallbackObserver final : public runtime::Warner {
 public:
  CallbackObserver(const TuneOptions& options, std::atomic<bool>& stop) : call_{options, stop} {}
  void on_trial(const Trial&, const Progress& progress) override { call_(progress.finished, progress.best); }

 private:
  const Callback call_;
};

/// The same for sizes that are tuned together. Counts the trials of all.
class JointCallbacks final : public JointListener {
 public:
  JointCallbacks(const TuneOptions& options, std::atomic<bool>& stop) : call_{options, stop} {}
  void on_step(const ProblemSize&, const SizeRace::Step&, std::size_t trials) override { before_ = trials; }
  void on_trial(const Trial&, const Progress& progress) override { call_(before_ + progress.finished, progress.best); }
  void on_warning(std::string_view message) override { runtime::Serving::process().warn(message); }

 private:
  const Callback call_;
  std::size_t before_ = 0;
};

/// Whether \p spec must be tuned in worker processes. Problems of tuner's choice may fault where no call of the program
/// would, and a fault on a GPU costs the process its context.
bool needs_workers(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  return traits(device.key).is_gpu && std::ranges::any_of(verify_problems(spec, size, device.limits),
                                                          [](const VerifyProblem& one) { return one.is_own(); });
}

/// Throws Error for limits that cannot be.
void check_limits(const TuneOptions& options) {
  if (options.wall_time && !(options.wall_time->count() > 0))
    throw Error(ErrorCode::invalid_argument, "TuneOptions::wall_time is " + std::to_string(options.wall_time->count()) +
                                                 ", not a positive number of seconds");
  if (options.trials == std::size_t{0})
    throw Error(ErrorCode::invalid_argument,
                "TuneOptions::trials is 0, but a tuning measures at least the default; leave it unset for any number");
  if (options.effort && (options.wall_time || options.trials))
    throw Error(ErrorCode::invalid_argument,
                "TuneOptions::effort says when the search ends, and so do wall_time and trials: set one of them");
}

/// The request of \p options for problems of \p sizes. \p usual: the effort without a limit.
TuningOptions tuning_options(const TuneOptions& options, const KernelSpec& spec, const std::vector<ProblemSize>& sizes,
                             const Device& device, Effort usual, const std::atomic<bool>& stop) {
  const bool isolated = options.isolated || std::ranges::any_of(sizes, [&](const ProblemSize& size) {
                          return needs_workers(spec, size, device);
                        });
  if (isolated && !IsolatedEvaluator::can_isolate(spec))
    throw runtime::refusal(
        spec.name, std::string(" cannot be tuned in worker processes, which read kernel files: it is described in code "
                               "alone") +
                       (options.isolated ? ""
                                         : ". Name the problems on which it is verified, with `verify`: those of "
                                           "tuner's choice may fault, so they never run in this process"));
  TuningOptions tuning;
  tuning.session.budget.wall_time = options.wall_time;
  tuning.session.budget.trials = options.trials;
  if (!options.wall_time && !options.trials) tuning.effort = options.effort.value_or(usual);
  if (tuning.effort == Effort::none && (options.force || !options.metrics.empty()))
    throw Error(ErrorCode::invalid_argument,
                std::string(options.force ? "TuneOptions::force" : "TuneOptions::metrics") + kNeedsMeasurements);
  tuning.session.strategy = options.strategy;
  tuning.session.seed = options.seed;
  tuning.session.objective = Objective::time_of(options.use);
  tuning.measure.use = options.use;
  tuning.session.stop = &stop;
  tuning.isolation = isolated ? Isolation::process : Isolation::none;
  tuning.host_check = options.check_on_host;
  tuning.resume = !options.force;
  tuning.origin = "tuner::tune";
  tuning.measure.metrics = options.metrics;
  return tuning;
}

}  // namespace

inline namespace TUNER_ABI {

TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const TuneOptions& options) try {
  const KernelSpec& spec = kernel.spec();
  check_limits(options);
  const runtime::ServedProblem problem(*kernel.served_, sizes, choices);
  runtime::ServedDevice& served = problem.device;
  const Device device = served.tuned_device();
  std::atomic<bool> stop{false};
  CallbackObserver observer(options, stop);
  TuningOptions tuning = tuning_options(options, spec, {problem.size}, device, problem.terms.settings.effort, stop);
  tuning.session.stop_is_final = true;
  const runtime::TuningHere here;
  const TuneAnswer answer = answer_or_tune(problem.terms.wisdom, spec, problem.size, device, tuning, observer,
                                           [&](const StoredAnswer&) { return served.backend.get(); });
  if (answer.found && !answer.found->best) throw no_winner(spec, problem.size, *answer.found);
  runtime::Renewal::process().renew(spec.name);  // another process may have just stored a known answer
  if (!answer.found) {
    TuneResult result;
    result.configuration = answer.known.configuration;
    if (answer.known.is_measured()) {
      result = runtime::result_of<TuneResult>(answer.known.configuration, *answer.known.match.best);
      result.effort = stored_effort(*answer.known.match.best);
    } else {
      result.effort = Effort::none;
    }
    result.from_cache = true;
    result.tried = answer.known.tried;
    result.valid = answer.known.valid;
    return result;
  }

  const SessionResult& session = *answer.found;
  const Measurement& best = *session.best->measurement();
  auto result = runtime::result_of<TuneResult>(session.best->configuration.text(), best);
  result.metrics = runtime::metrics_of(best, expand_metrics(options.metrics));
  result.trials = result.tried = session.trials.size();
  result.valid = session.valid;
  result.effort = session.effort;
  for (const Trial& trial : session.trials) {
    if (!trial.measurement()) ++result.failures[std::string(kind(trial.outcome))];
  }
  return result;
} catch (...) {
  runtime::leave_with_error();
}

RuleResult tune_together(const Kernel& kernel, const std::vector<Sizes>& sizes, const Choices& choices,
                         const TuneOptions& options) try {
  if (sizes.empty()) throw Error(ErrorCode::invalid_argument, "tune_together() was given no sizes");
  check_limits(options);
  if (!options.metrics.empty())
    throw Error(ErrorCode::invalid_argument, "tune_together() collects no metrics: leave TuneOptions::metrics empty");
  if (kernel.spec().sizes.empty())
    throw runtime::refusal(kernel.spec().name, " has no sizes for a rule to choose by: use tune()");
  const runtime::ServedProblem problem(*kernel.served_, sizes.front(), choices);
  runtime::ServedDevice& served = problem.device;
  const Device device = served.tuned_device();
  JointJob job{std::shared_ptr<const KernelSpec>(std::shared_ptr<void>(), &kernel.spec()), {}, {}, {}};
  std::vector<std::size_t> places;  // of each of `sizes` in the job
  for (const Sizes& one : sizes) {
    const ProblemSize size = runtime::problem_of(*job.spec, one, problem.size.choices);
    places.push_back(static_cast<std::size_t>(std::ranges::find(job.sizes, size) - job.sizes.begin()));
    if (places.back() == job.sizes.size()) job.sizes.push_back(size);
  }
  job.weights.assign(job.sizes.size(), 1);
  std::atomic<bool> stop{false};
  JointCallbacks observer(options, stop);
  job.tuning = tuning_options(options, *job.spec, job.sizes, device, problem.terms.settings.effort, stop);
  if (job.tuning.effort == Effort::none)
    throw Error(ErrorCode::invalid_argument, std::string("tune_together()") + kNeedsMeasurements);
  weigh_by_misses(job, problem.terms.wisdom, device);
  const runtime::TuningHere here;
  const JointResult found = tune_together(job, device, problem.terms.wisdom, served.backend.get(), observer, stop);
  runtime::Renewal::process().renew(job.spec->name);
  RuleResult result;
  result.trials = found.trials;
  result.from_cache = found.is_known;
  if (!found.rule) {
    if (found.is_interrupted) return result;
    throw runtime::refusal(job.spec->name, ": no few configurations work for all sizes", ErrorCode::other);
  }
  for (const SizeRule::Branch& branch : found.rule->branches)
    result.branches.push_back({branch.condition(), branch.configuration.text()});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const JointChoice& choice = found.choices[places[i]];
    result.choices.push_back({sizes[i], choice.configuration.text(), std::nullopt, choice.regret});
    if (choice.median_ns > 0) result.choices.back().median_ns = choice.median_ns;
  }
  if (const SizeRule::Regret& between = found.rule->between; between.sizes > 0)
    result.between = RegretBetween{between.median, between.low, between.high, between.worst, between.sizes};
  return result;
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace TUNER_ABI
}  // namespace tuner
