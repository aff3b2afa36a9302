#include <tuner/session/tuning.hpp>

#include <algorithm>

#include <cache/json.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/elapsed.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/metric.hpp>
#include <tuner/core/named.hpp>

#include <tuner/search/strategy.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/host_check.hpp>
#include <tuner/session/images.hpp>
#include <tuner/session/trial_store.hpp>

namespace tuner {
namespace {

/// The settings of measuring for the session's objective. Slow configurations are abandoned early only if the objective
/// is time. Any other objective must be measured for every configuration.
MeasureOptions measuring(const TuningOptions& options, std::vector<std::string> metrics) {
  MeasureOptions measure = options.measure;
  measure.metrics = std::move(metrics);
  if (options.session.objective.is_time()) return measure;
  measure.abandon_factor = 0;
  measure.metrics_for_all = true;
  return measure;
}

}  // namespace

std::string conditions_text(const TuningOptions& options, const KernelSpec& spec) {
  const MeasureOptions& measure = options.measure;
  const std::string reference = weaker_reference(spec, measure.recorded);
  // By name: equal conditions are equal texts. The usual is left out where earlier releases did not store it.
  Json conditions{{"cold", measure.cold}};
  if (measure.max_seconds != MeasureOptions{}.max_seconds) conditions["max_seconds"] = measure.max_seconds;
  conditions["min_samples"] = measure.min_samples;
  if (!measure.recorded.digest.empty()) conditions["recorded"] = measure.recorded.digest;
  if (measure.verify && !reference.empty()) conditions["reference"] = reference;
  conditions["seed"] = measure.seed;
  conditions["target_width"] = measure.target_width;
  conditions["verify"] = measure.verify;
  return text_of_json(conditions);
}

std::vector<std::string> measurable_metrics(const TuningOptions& options, const Device& device,
                                            const std::function<void(std::string_view)>& warn) {
  std::vector<std::string> asked = options.measure.metrics;
  const Objective& objective = options.session.objective;
  if (!objective.is_time()) asked.insert(asked.begin(), objective.metric());
  asked = expand_metrics(asked);
  if (asked.empty()) return {};
  const std::vector<std::string> reasons = why_not_measurable(device, asked);
  std::vector<std::string> measurable, told;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (reasons[i].empty()) {
      measurable.push_back(asked[i]);
      continue;
    }
    if (asked[i] == objective.metric())
      throw Error(ErrorCode::invalid_argument, "the objective " + asked[i] + " cannot be measured: " + reasons[i]);
    if (contains(told, reasons[i])) continue;
    told.push_back(reasons[i]);
    warn("not collected: " + reasons[i]);
  }
  return measurable;
}

SessionResult tune_kernel(const KernelSpec& spec, const ProblemSize& size, const Device& device, Wisdom& wisdom,
                          const TuningOptions& options, Observer* observer, Backend* backend) {
  const Clock::time_point started = options.session.started.value_or(Clock::now());
  const bool isolate = options.isolation == Isolation::process;
  if (!isolate && (!options.more_devices.empty() || !options.hosts.empty()))
    throw Error(ErrorCode::invalid_argument,
                "tuning on several devices needs worker processes: leave isolation on, or name one device");
  if (options.measure.verify && spec.reference_kind() == ReferenceKind::none && !options.measure.recorded.has_answers())
    throw Error(
        ErrorCode::invalid_argument,
        spec.program.file + ": kernel '" + spec.name +
            "' has no reference, so no configuration could be verified and "
            "none named best. Write a kernel that computes the outputs in the simplest way and name it: "
            "'#pragma tuner reference NAME'. Or compare with the results of the default configuration: "
            "'#pragma tuner reference default'. --unverified measures without a reference, but no call is served with "
            "the result");
  const auto warn = [observer](std::string_view message) {
    if (observer) observer->on_warning(message);
  };
  const MeasureOptions measure = measuring(options, measurable_metrics(options, device, warn));
  std::unique_ptr<Backend> opened;
  if (!isolate && backend == nullptr) {
    opened = open_backend(device, OwnKernels::of_trials);
    backend = opened.get();
  }
  IsolatedOptions workers{.here = isolate ? nullptr : backend,
                          .gpus = traits(device.key).is_gpu ? compute_capabilities() : std::vector<int>(),
                          .devices = {device.index},
                          .compile_workers = options.compile_workers,
                          .search_learns = search::strategy_info(options.session.strategy).learns,
                          .known_device = device,
                          .hosts = options.hosts,
                          .images = traits(device.key).keeps_objects ? ImageStore{} : image_cache(warn),
                          .warn = warn};
  workers.devices.insert(workers.devices.end(), options.more_devices.begin(), options.more_devices.end());
  if (isolate) workers.grace = options.session.grace;  // threads cannot be killed
  IsolatedEvaluator evaluator(spec, size, measure, workers);
  // Only now: hashing large data files takes as long as the workers need to start.
  TrialStore store(wisdom.user(), spec, size, device,
                   {.session = {options.session.strategy, options.session.seed, options.origin},
                    .conditions = conditions_text(options, spec),
                    .objective = options.session.objective,
                    .resume = options.resume,
                    .metrics = measure.metrics_for_all ? measure.metrics : std::vector<std::string>(),
                    .decides = options.decides && measure.verify});
  SessionOptions session = options.session;
  session.started = started;
  session.unverified = !measure.verify;
  session.remeasure_one = !measure.metrics.empty();
  if (options.learn_from_elsewhere && !session.prior)
    session.prior = earlier_results(wisdom, spec, size, device, session.objective);
  std::optional<HostCheck> check;
  if (options.host_check && traits(device.key).is_gpu && measure.verify)
    session.check = &check.emplace(spec, size, HostCheckOptions{.seed = measure.seed, .stop = options.session.stop});
  return run_session(spec, size, device, evaluator, &store, session, observer);
}

}  // namespace tuner
