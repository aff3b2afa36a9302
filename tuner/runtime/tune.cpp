#include <tuner/tune.hpp>

#include <atomic>

#include <tuner/core/error.hpp>
#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/kernel_impl.hpp>
#include <tuner/runtime/serving.hpp>
#include <tuner/session/tuning.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

/// Passes trials on to the caller's function and keeps the wish to stop.
class CallbackObserver final : public Observer {
 public:
  CallbackObserver(const TuneOptions& options, std::atomic<bool>& stop) : options_(options), stop_(stop) {}
  void on_trial(const Trial&, const Progress& progress) override {
    const double best = progress.best ? progress.best->measurement()->median_ns : 0;
    if (options_.on_trial && !options_.on_trial(progress.finished, best)) stop_ = true;
  }
  void on_warning(std::string_view message) override { runtime::Serving::process().warn(message); }

 private:
  const TuneOptions& options_;
  std::atomic<bool>& stop_;
};

TuneResult known(const cache::BestRecord& best) {
  TuneResult result;
  result.configuration = best.configuration;
  result.median_ns = best.median_ns;
  result.low_ns = best.low_ns;
  result.high_ns = best.high_ns;
  result.from_cache = true;
  return result;
}

}  // namespace

TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const TuneOptions& options) {
  runtime::Serving& serving = runtime::Serving::process();
  const runtime::WarningsAtEnd warnings(serving);
  const KernelSpec& spec = kernel.spec();
  Choices all = KernelAccess::impl(kernel).choices;
  for (const auto& [name, value] : choices) all[name] = value;
  const ProblemSize size = runtime::problem_of(spec, sizes, std::move(all));
  if (options.isolated && !IsolatedEvaluator::can_isolate(spec)) {
    throw Error("kernel '" + spec.name +
                "' cannot be tuned in worker processes, which read kernel files: it is described in code alone");
  }
  runtime::ServedDevice& device = serving.device(serving.context_for(nullptr));
  if (!options.force) {
    const cache::WisdomMatch match = serving.wisdom().lookup(spec, size, device.device());
    if (match && match.tier == cache::Tier::exact) return known(*match.best);
  }

  std::atomic<bool> stop{false};
  CallbackObserver observer(options, stop);
  TuningOptions tuning;
  tuning.session.budget.wall_time = options.wall_time;
  tuning.session.budget.trials = options.trials;
  tuning.session.strategy = options.strategy;
  tuning.session.seed = options.seed;
  tuning.session.stop = &stop;
  tuning.isolation = options.isolated ? Isolation::process : Isolation::none;
  tuning.resume = !options.force;
  tuning.origin = "tuner::tune";
  const runtime::TuningHere here;
  const BesideCaptures allowed(device.context());
  const SessionResult session =
      tune_kernel(spec, size, device.device(), serving.wisdom(), tuning, &observer, &device.backend());
  if (!session.best) throw Error("kernel '" + spec.name + "': no configuration worked for " + size.text());
  KernelAccess::impl(kernel).plans.renew();

  const Measurement& best = *session.best->measurement();
  TuneResult result;
  result.configuration = session.best->configuration.text();
  result.median_ns = best.median_ns;
  result.low_ns = best.low_ns;
  result.high_ns = best.high_ns;
  result.trials = session.trials.size();
  for (const Trial& trial : session.trials) {
    if (!trial.measurement()) ++result.failures[std::string(kind(trial.outcome))];
  }
  return result;
}

}  // namespace tuner
