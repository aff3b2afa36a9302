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
#include <tuner/session/tuning/no_result.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/spent.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

/// Passes trials to the caller's function and records its wish to stop.
class CallbackObserver final : public runtime::Warner {
 public:
  CallbackObserver(const TuneOptions& options, std::atomic<bool>& stop) : options_(options), stop_(stop) {}
  void on_trial(const Trial&, const Progress& progress) override {
    const double best = progress.best ? progress.best->measurement()->median_ns : 0;
    try {
      if (options_.on_trial && !options_.on_trial(progress.finished, best)) stop_ = true;
    } catch (...) {
      throw runtime::FromCaller{std::current_exception()};
    }
  }

 private:
  const TuneOptions& options_;
  std::atomic<bool>& stop_;
};

/// Whether \p spec must be tuned in worker processes. Problems of tuner's choice may fault where no call of the program
/// would, and a fault on a GPU costs the process its context.
bool needs_workers(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  return traits(device.key).is_gpu && std::ranges::any_of(verify_problems(spec, size, device.limits),
                                                          [](const VerifyProblem& one) { return one.is_own(); });
}

}  // namespace

inline namespace TUNER_ABI {

TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const TuneOptions& options) try {
  const KernelSpec& spec = kernel.spec();
  if (options.wall_time && !(options.wall_time->count() > 0))
    throw Error(ErrorCode::invalid_argument, "TuneOptions::wall_time is " + std::to_string(options.wall_time->count()) +
                                                 ", not a positive number of seconds");
  if (options.trials == std::size_t{0})
    throw Error(ErrorCode::invalid_argument,
                "TuneOptions::trials is 0, but a tuning measures at least the default; leave it unset for any number");
  const bool has_limit = options.wall_time || options.trials;
  if (options.effort && has_limit)
    throw Error(ErrorCode::invalid_argument,
                "TuneOptions::effort says when the search ends, and so do wall_time and trials: set one of them");
  const runtime::ServedProblem problem(*kernel.served_, sizes, choices);
  runtime::ServedDevice& served = problem.device;
  const Device device = served.tuned_device();
  const bool isolated = options.isolated || needs_workers(spec, problem.size, device);
  if (isolated && !IsolatedEvaluator::can_isolate(spec))
    throw runtime::refusal(
        spec.name, std::string(" cannot be tuned in worker processes, which read kernel files: it is described in code "
                               "alone") +
                       (options.isolated ? ""
                                         : ". Name the problems on which it is verified, with `verify`: those of "
                                           "tuner's choice may fault, so they never run in this process"));
  std::atomic<bool> stop{false};
  CallbackObserver observer(options, stop);
  TuningOptions tuning;
  tuning.session.budget.wall_time = options.wall_time;
  tuning.session.budget.trials = options.trials;
  if (!has_limit) tuning.effort = options.effort.value_or(problem.terms.settings.effort);
  if (tuning.effort == Effort::none && (options.force || !options.metrics.empty()))
    throw Error(ErrorCode::invalid_argument,
                std::string(options.force ? "TuneOptions::force" : "TuneOptions::metrics") +
                    " needs measurements, and with Effort::none (TuneOptions::effort, else TUNER_EFFORT, else "
                    "Settings::effort) there are none: set TuneOptions::effort to quick or more");
  tuning.session.strategy = options.strategy;
  tuning.session.seed = options.seed;
  tuning.session.objective = Objective::time_of(options.use);
  tuning.measure.use = options.use;
  tuning.session.stop = &stop;
  tuning.session.stop_is_final = true;
  tuning.isolation = isolated ? Isolation::process : Isolation::none;
  tuning.host_check = options.check_on_host;
  tuning.resume = !options.force;
  tuning.origin = "tuner::tune";
  tuning.measure.metrics = options.metrics;
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

}  // namespace TUNER_ABI
}  // namespace tuner
