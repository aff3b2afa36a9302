#include <tuner/session/tuning/try_configurations.hpp>

#include <optional>

#include <tuner/backend/all/backends.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/session/wisdom/trial_store.hpp>

namespace tuner {
namespace {

/// How long to wait for an event before looking at a request to stop.
constexpr std::chrono::duration<double> kEventPatience{0.05};

Trial failed(const Configuration& configuration, Outcome outcome) {
  Trial trial;
  trial.configuration = configuration;
  trial.outcome = std::move(outcome);
  return trial;
}

}  // namespace

std::vector<Trial> try_configurations(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                      Evaluator& evaluator, TrialStore& store, const SessionOptions& options,
                                      std::span<const Configuration> configurations, Observer& observer) {
  const Clock::time_point start = Clock::now();
  std::vector<Trial> trials;
  Progress progress;
  std::optional<Trial> best;
  const auto conclude = [&](Trial trial) {
    const Measurement* const measured = trial.verified ? trial.measurement() : nullptr;
    if (measured && (!best || measured->median_ns < best->measurement()->median_ns)) best = trial;
    ++progress.finished;
    progress.planned = configurations.size();
    progress.elapsed = std::chrono::duration<double>(seconds_since(start));
    progress.best = best ? &*best : nullptr;
    observer.on_trial(trial, progress);
    trials.push_back(std::move(trial));
  };
  observer.on_start({&spec, &size, &device, "given", double(configurations.size()), configurations.size(), 0, 0, "",
                     evaluator.lanes().size(), SpaceCount::Kind::exact});
  for (const Configuration& one : configurations) {
    if (const auto reason = why_invalid(spec, size, device.limits, one))
      conclude(failed(one, Invalid{*reason}));
    else if (const auto crashed = store.quarantined(one))
      conclude(failed(one, LaunchError{"quarantined, not run again: " + *crashed}));
    else
      evaluator.submit(one, 0);
  }
  while (evaluator.in_flight() > 0) {
    if (options.stop && options.stop->load(std::memory_order_relaxed)) break;
    const bool was_usable = evaluator.usable();
    std::optional<Event> event = evaluator.next_event(kEventPatience);
    if (!event) continue;
    if (!was_usable) throw DeviceLostError("the device cannot be used any more: a kernel left it in an unknown state");
    Trial* const trial = std::get_if<Trial>(&*event);
    if (trial == nullptr) continue;
    store.append(*trial);
    conclude(std::move(*trial));
  }
  store.finish(nullptr, std::nullopt);
  return trials;
}

std::vector<Trial> try_configurations(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                      Wisdom& wisdom, const TuningOptions& options,
                                      std::span<const Configuration> configurations, Observer& observer,
                                      Backend* backend) {
  const bool isolate = options.isolation == Isolation::process;
  const auto warn = [&observer](std::string_view message) { observer.on_warning(message); };
  require_use(options.measure.use, device);
  std::unique_ptr<Backend> opened;
  if (!isolate && backend == nullptr) {
    opened = open_backend(device, PreloadedKernels::trials);
    backend = opened.get();
  }
  MeasureOptions measure = options.measure;
  measure.abandon_factor = 0;  // all are compared
  IsolatedOptions workers = workers_on(device, warn);
  workers.here = isolate ? nullptr : backend;
  workers.compile_workers = options.compile_workers;
  workers.search_learns = false;
  workers.hosts = options.hosts;
  workers.devices.insert(workers.devices.end(), options.more_devices.begin(), options.more_devices.end());
  IsolatedEvaluator evaluator(spec, size, measure, workers);
  TrialStore store(wisdom.user(), spec, size, device,
                   {.session = {"given", options.session.seed, options.origin},
                    .conditions = conditions_text(options, spec),
                    .objective = options.session.objective,
                    .resume = options.resume && unknown_headers(spec) == nullptr,
                    .metrics = {},
                    .decides = false});
  return try_configurations(spec, size, device, evaluator, store, options.session, configurations, observer);
}

}  // namespace tuner
