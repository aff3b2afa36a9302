#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <tuner/core/error.hpp>
#include <tuner/core/metric.hpp>
#include <tuner/measure/runner_state.hpp>

namespace tuner {
namespace {

/// The energy sensor is read for this time, after a second of warming up.
constexpr double kEnergySeconds = 1;

void add_reason(std::string& reasons, std::string_view reason) {
  if (!reasons.empty()) reasons += "; ";
  reasons += reason;
}

}  // namespace

/// For the main problem. Call it after all timing.
void Runner::State::collect_metrics(const Ready& run, Measurement& measurement) {
  std::map<MetricSource, std::vector<std::string>> asked;
  for (const std::string& name : options.metrics) asked[source_of(name)].push_back(name);
  measurement.no_metrics.clear();
  load_copies(run.launches);  // the last verification used other inputs
  if (asked.contains(MetricSource::counters)) count(run, asked[MetricSource::counters], measurement);
  if (asked.contains(MetricSource::sensor)) measure_energy(run, asked[MetricSource::sensor], measurement);
  if (asked.contains(MetricSource::outputs)) measure_error(run.launches, measurement);
}

void Runner::State::count(const Ready& counted_run, std::vector<std::string> counters, Measurement& measurement) {
  if (no_counters.empty()) {
    announce(Phase::measure, housekeeping_s);
    CountRequest request;
    request.metrics = std::move(counters);
    request.cold = options.cold;
    request.restore = [&] {
      problems.front()->reset_for_measuring();
      load_copies(counted_run.launches);
      if (counted_run.prepare.empty()) return;
      if (const auto failure = backend.run(counted_run.prepare, main().run_limit_s()))
        throw Error(fmt::format("preparing a run that is counted failed: {}", message(*failure)));
    };
    const CountResult counted = backend.collect(counted_run.timed, request);
    if (const auto* const metrics = std::get_if<Metrics>(&counted)) {
      for (const auto& [name, value] : *metrics) measurement.metrics[name] = value;
      return;
    }
    no_counters = std::get<Unavailable>(counted).reason;
  }
  add_reason(measurement.no_metrics, no_counters);
}

void Runner::State::measure_energy(const Ready& repeated, const std::vector<std::string>& asked,
                                   Measurement& measurement) {
  if (!repeated.prepare.empty() && no_energy.empty())
    no_energy = "energy is measured over runs without a gap, and here a 'prepare' launch comes before each run";
  if (no_energy.empty()) {
    announce(Phase::measure, housekeeping_s + kEnergySeconds);
    problems.front()->reset_for_measuring();
    load_copies(repeated.launches);
    const EnergyResult result = backend.energy(repeated.timed, kEnergySeconds);
    if (const auto* const energy = std::get_if<Energy>(&result)) {
      for (const std::string& name : asked) {
        if (name == "energy") measurement.metrics[name] = energy->joules;
        if (name == "power") measurement.metrics[name] = energy->watts;
        if (name == "edp") measurement.metrics[name] = energy->joules * measurement.median_ns * 1e-9;
      }
      return;
    }
    no_energy = std::get<Unavailable>(result).reason;
  }
  add_reason(measurement.no_metrics, no_energy);
}

void Runner::State::measure_error(const std::vector<Launch>& launches, Measurement& measurement) {
  if (!has_reference()) return add_reason(measurement.no_metrics, "without a reference, no error can be computed");
  ProblemBuffers& problem = *problems.front();
  announce(Phase::measure, housekeeping_s);
  problem.reset(0);
  if (const auto failure = run(Phase::measure, problem, launches))
    return add_reason(measurement.no_metrics, message(*failure));
  announce(Phase::measure, housekeeping_s);
  const HostBuffers expected = problem.expected_of_outputs();
  double error = 0;
  for (const auto& [name, actual] : problem.outputs())
    error = std::max(error, largest_error(actual, expected.at(name)));
  measurement.metrics["error"] = error;
}

}  // namespace tuner
