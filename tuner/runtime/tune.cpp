#include <tuner/tune.hpp>

#include <atomic>

#include <tuner/core/error.hpp>
#include <tuner/core/metric.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/leaving.hpp>
#include <tuner/runtime/renewal.hpp>
#include <tuner/runtime/served_problem.hpp>
#include <tuner/session/tuning.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

/// Passes trials to the caller's function and records its wish to stop.
class CallbackObserver final : public Observer {
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
  void on_warning(std::string_view message) override { runtime::Serving::process().warn(message); }

 private:
  const TuneOptions& options_;
  std::atomic<bool>& stop_;
};

/// From a stored record or a measurement.
template <typename Times>
TuneResult result_of(std::string configuration, const Times& times) {
  TuneResult result;
  result.configuration = std::move(configuration);
  result.median_ns = times.median_ns;
  result.low_ns = times.low_ns;
  result.high_ns = times.high_ns;
  return result;
}

}  // namespace

TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const TuneOptions& options) try {
  const KernelSpec& spec = kernel.spec();
  if (options.isolated && !IsolatedEvaluator::can_isolate(spec)) {
    throw Error(ErrorCode::invalid_argument,
                "kernel '" + spec.name +
                    "' cannot be tuned in worker processes, which read kernel files: it is described in code alone");
  }
  const runtime::ServedProblem problem(*kernel.served_, sizes, choices);
  runtime::ServedDevice& served = problem.device;
  const Device device = served.tuned_device();
  if (!options.force) {
    const cache::WisdomMatch match = problem.terms.wisdom.lookup(spec, problem.size, device);
    if (match && match.tier == cache::Tier::exact) {
      TuneResult result = result_of(match.best->configuration, *match.best);
      result.from_cache = true;
      runtime::Renewal::process().renew(spec.name);  // another process may have just stored it
      return result;
    }
  }
  problem.terms.wisdom.require_not_frozen("tune");

  std::atomic<bool> stop{false};
  CallbackObserver observer(options, stop);
  TuningOptions tuning;
  tuning.session.budget.wall_time = options.wall_time;
  tuning.session.budget.trials = options.trials;
  tuning.session.strategy = options.strategy;
  tuning.session.seed = options.seed;
  tuning.session.stop = &stop;
  tuning.isolation = options.isolated ? Isolation::process : Isolation::none;
  tuning.host_check = options.check_on_host;
  tuning.resume = !options.force;
  tuning.origin = "tuner::tune";
  tuning.measure.metrics = options.metrics;
  const runtime::TuningHere here;
  const SessionResult session =
      tune_kernel(spec, problem.size, device, problem.terms.wisdom, tuning, &observer, served.backend.get());
  if (!session.best) throw Error("kernel '" + spec.name + "': no configuration worked for " + problem.size.text());
  runtime::Renewal::process().renew(spec.name);

  const Measurement& best = *session.best->measurement();
  TuneResult result = result_of(session.best->configuration.text(), best);
  for (const std::string& name : expand_metrics(options.metrics))
    if (const auto at = best.metrics.find(name); at != best.metrics.end()) result.metrics.insert(*at);
  result.trials = session.trials.size();
  for (const Trial& trial : session.trials) {
    if (!trial.measurement()) ++result.failures[std::string(kind(trial.outcome))];
  }
  return result;
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace tuner
