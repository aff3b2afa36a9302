#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <tuner/core/device/metric.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {
namespace {

/// The energy sensor is read for this time, after a second of warming up.
constexpr double kEnergySeconds = 1;

/// Before that, so many runs in a row are compared with runs that find nothing done.
constexpr double kRowNs = 200e3;

void add_reason(std::string& reasons, std::string_view reason) {
  if (!reasons.empty()) reasons += "; ";
  reasons += reason;
}

}  // namespace

/// For the main problem. Call it after all timing.
void Runner::collect_metrics(const Ready& run, Measurement& measurement) {
  std::map<MetricSource, std::vector<std::string>> asked;
  for (const std::string& name : options_.metrics) asked[source_of(name)].push_back(name);
  measurement.no_metrics.clear();
  load_copies(run.launches);  // the last verification used other inputs
  if (asked.contains(MetricSource::counters)) count(run, asked[MetricSource::counters], measurement);
  if (asked.contains(MetricSource::sensor)) measure_energy(run, asked[MetricSource::sensor], measurement);
  if (asked.contains(MetricSource::outputs)) measure_error(run, measurement);
}

void Runner::count(const Ready& counted_run, std::vector<std::string> counters, Measurement& measurement) {
  if (no_counters_.empty()) {
    const double passes_s = housekeeping_s_ + 2 * main().run_limit_s();
    announce(Phase::measure, passes_s);
    CountRequest request;
    request.metrics = std::move(counters);
    request.cold = options_.use == Use::single;
    request.restore = [&] {
      announce_kernel(Phase::measure, passes_s);  // for this pass
      problems_.front()->reset(0);
      load_copies(counted_run.launches);
      if (counted_run.prepare.empty()) return;
      if (const auto failure = backend_.run(counted_run.prepare, main().run_limit_s()))
        throw Error(fmt::format("preparing a run that is counted failed: {}", message(*failure)));
    };
    const CountResult counted = backend_.collect(counted_run.timed, request);
    if (const auto* const metrics = std::get_if<Metrics>(&counted)) {
      for (const auto& [name, value] : *metrics) measurement.metrics[name] = value;
      return;
    }
    no_counters_ = std::get<Unavailable>(counted).reason;
  }
  add_reason(measurement.no_metrics, no_counters_);
}

void Runner::measure_energy(const Ready& repeated, const std::vector<std::string>& asked, Measurement& measurement) {
  if (!repeated.prepare.empty() && no_energy_.empty())
    no_energy_ = "energy is measured over runs without a gap, and here a 'prepare' launch comes before each run";
  if (no_energy_.empty()) {
    if (auto reason = check_runs_in_a_row(repeated, measurement.median_ns))
      return add_reason(measurement.no_metrics, *reason);
    const double some_runs_s = 20e-9 * measurement.median_ns + main().run_limit_s();
    announce_kernel(Phase::measure, housekeeping_s_ + 4 * kEnergySeconds + some_runs_s);
    problems_.front()->reset(0);
    load_copies(repeated.launches);
    const EnergyResult result = backend_.energy(repeated.timed, kEnergySeconds);
    if (const auto* const energy = std::get_if<Energy>(&result)) {
      for (const std::string& name : asked) {
        if (name == "energy") measurement.metrics[name] = energy->joules;
        if (name == "power") measurement.metrics[name] = energy->watts;
        if (name == "edp") measurement.metrics[name] = energy->joules * measurement.median_ns * 1e-9;
      }
      return;
    }
    no_energy_ = std::get<Unavailable>(result).reason;
  }
  add_reason(measurement.no_metrics, no_energy_);
}

/// Samples runs one after the other, without refills. Returns the reason if they do not show the cost of one run.
std::optional<std::string> Runner::check_runs_in_a_row(const Ready& repeated, double median_ns) {
  const TimedWork work = timed_work(repeated);
  if (work.refills.empty()) return std::nullopt;
  const auto batch = std::size_t(std::clamp(kRowNs / std::max(median_ns, 1.0), 2.0, 1000.0));
  double pause_left_s = 0;
  const auto repeats = sampler_.repeats_its_work(work, batch, median_ns * 1e-9, pause_left_s, announce_measuring());
  if (const auto* const failure = std::get_if<Outcome>(&repeats)) return std::string(message(*failure));
  if (std::get<bool>(repeats)) return std::nullopt;
  return "its runs take less time when an earlier run has done their work, so energy would be that of doing nothing";
}

void Runner::measure_error(const Ready& ready, Measurement& measurement) {
  if (!has_reference()) return add_reason(measurement.no_metrics, "without a reference, no error can be computed");
  ProblemBuffers& problem = *problems_.front();
  announce(Phase::measure, housekeeping_s_);
  problem.reset(0);
  if (const auto failure = run_afresh(Phase::measure, problem, ready, false))
    return add_reason(measurement.no_metrics, message(*failure));
  announce(Phase::measure, housekeeping_s_);
  const HostBuffers expected = problem.expected_of_outputs();
  double error = 0;
  for (const auto& [name, actual] : problem.outputs())
    error = std::max(error, largest_error(actual, expected.at(name)));
  measurement.metrics["error"] = error;
}

}  // namespace tuner
