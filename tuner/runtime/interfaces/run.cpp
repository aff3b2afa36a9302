#include <tuner/run.hpp>

#include <stdexcept>

#include <tuner/backend/traits.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/error.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/single_run.hpp>
#include <tuner/runtime/interfaces/leaving.hpp>
#include <tuner/runtime/interfaces/measured_result.hpp>
#include <tuner/runtime/interfaces/served_kernel.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tuning.hpp>

namespace tuner {
namespace {

/// The configuration of a launch, changed as \p text says.
Configuration configuration_of(const KernelSpec& spec, const cache::WisdomMatch& match, const std::string& text) {
  Configuration chosen = spec.default_configuration.value_or(Configuration{});
  if (match.best) chosen = Configuration::parse(match.best->configuration);
  try {
    const Configuration given = Configuration::parse(text);
    for (const auto& [name, value] : given.entries()) chosen.set(name, value);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::invalid_argument, std::string("tuner::run: ") + error.what());
  }
  return chosen;
}

ErrorCode code_of(const Outcome& outcome) {
  if (std::holds_alternative<CompileError>(outcome)) return ErrorCode::compiler;
  if (std::holds_alternative<Invalid>(outcome)) return ErrorCode::invalid_argument;
  const auto* const failed = std::get_if<LaunchError>(&outcome);
  return failed != nullptr ? failed->code : ErrorCode::other;
}

}  // namespace

inline namespace TUNER_ABI {

RunResult run(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const RunOptions& options) try {
  const runtime::ServedProblem problem(*kernel.served_, sizes, choices);
  const KernelSpec& spec = kernel.spec();
  const ProblemSize& size = problem.size;
  runtime::ServedDevice& device = problem.device;
  require_use(options.use, device.device());
  const cache::WisdomMatch match = problem.terms.wisdom.lookup_in_use(options.use, spec, size, device.device());

  MeasureOptions measure;
  measure.use = options.use;
  measure.verify = options.verify;
  measure.own_problems = !traits(device.device().key).is_gpu;  // they may fault: see needs_workers()
  Device known = device.device();                              // a copy: other threads may read the served one
  measure_ceilings(known);
  TuningOptions asked;
  asked.measure.metrics = options.metrics;
  runtime::Warner observer;
  measure.metrics = measurable_metrics(asked, known, [&](std::string_view text) { observer.on_warning(text); });
  measure.metrics_for_all = true;
  SingleRun one(*device.backend, spec, size, configuration_of(spec, match, options.configuration), measure);
  const Trial trial = one.measure();
  const Measurement* const measured = trial.measurement();
  if (!measured)
    throw Error(code_of(trial.outcome),
                spec.program.file + ": " + trial.configuration.text() + ": " + std::string(message(trial.outcome)));

  const Verdict verdict =
      explain(spec, size, known, trial.configuration, *measured, one.launches(),
              match.tier == cache::Tier::exact && match.best->configuration == trial.configuration.text());
  auto result = runtime::result_of<RunResult>(trial.configuration.text(), *measured);
  result.verified = trial.verified;
  result.limit = name(verdict.limit);
  result.reason = verdict.reason;
  result.metrics = runtime::metrics_of(*measured, measure.metrics);
  if (!measured->no_metrics.empty()) observer.on_warning("metrics are missing: " + measured->no_metrics);
  for (const LaunchDetail& launch : one.launches())
    result.launches.push_back({launch.expression, launch.shape.grid, launch.shape.block, launch.shared_bytes(),
                               launch.resources.registers, launch.resources.spill_bytes, launch.resources.occupancy,
                               launch.occupancy ? std::string(name(launch.occupancy->limiter)) : std::string(),
                               launch.shape.cluster, launch.shape.dependent});
  return result;
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace TUNER_ABI
}  // namespace tuner
