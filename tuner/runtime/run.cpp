#include <tuner/run.hpp>

#include <stdexcept>

#include <tuner/core/error.hpp>
#include <tuner/core/metric.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/single_run.hpp>
#include <tuner/runtime/leaving.hpp>
#include <tuner/runtime/served_problem.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/tuning.hpp>

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

struct PassesWarningsOn final : Observer {
  void on_warning(std::string_view message) override { runtime::Serving::process().warn(message); }
};

}  // namespace

RunResult run(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const RunOptions& options) try {
  const runtime::ServedProblem problem(*kernel.served_, sizes, choices);
  const KernelSpec& spec = kernel.spec();
  const ProblemSize& size = problem.size;
  runtime::ServedDevice& device = problem.device;
  const cache::WisdomMatch match = problem.terms.wisdom.lookup(spec, size, device.device());

  MeasureOptions measure;
  measure.cold = options.cold;
  measure.verify = options.verify;
  Device known = device.device();  // a copy: other threads may read the served one
  measure_ceilings(known);
  TuningOptions asked;
  asked.measure.metrics = options.metrics;
  PassesWarningsOn observer;
  measure.metrics = measurable_metrics(asked, known, &observer);
  measure.metrics_for_all = true;
  SingleRun one(*device.backend, spec, size, configuration_of(spec, match, options.configuration), measure);
  const Trial trial = one.measure();
  const Measurement* const measured = trial.measurement();
  if (!measured)
    throw Error(code_of(trial.outcome),
                spec.file + ": " + trial.configuration.text() + ": " + std::string(message(trial.outcome)));

  const Verdict verdict = explain(spec, size, known, *measured, one.launches());
  RunResult result{trial.configuration.text(),
                   {},
                   measured->median_ns,
                   measured->low_ns,
                   measured->high_ns,
                   trial.verified,
                   std::string(name(verdict.limit)),
                   verdict.reason,
                   {}};
  if (!measured->no_metrics.empty()) observer.on_warning("metrics are missing: " + measured->no_metrics);
  for (const std::string& name : measure.metrics)
    if (const auto at = measured->metrics.find(name); at != measured->metrics.end()) result.metrics.insert(*at);
  for (const LaunchDetail& launch : one.launches())
    result.launches.push_back({launch.expression, launch.shape.grid, launch.shape.block, launch.shared_bytes(),
                               launch.resources.registers, launch.resources.spill_bytes, launch.resources.occupancy,
                               launch.occupancy ? std::string(name(launch.occupancy->limiter)) : std::string()});
  return result;
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace tuner
