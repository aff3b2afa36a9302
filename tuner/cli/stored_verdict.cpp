#include <tuner/cli/stored_verdict.hpp>

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <tuner/explain/explain_trial.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {
namespace {

/// Operations for each byte from which on a kernel may be limited by arithmetic.
constexpr double kMuchArithmetic = 8;

/// What the tunings saw of the device; the later one's counts.
nlohmann::json properties_of(const report::Tuning& tuning) {
  nlohmann::json all = nlohmann::json::object();
  const auto add = [&all](const std::string& text) {
    const nlohmann::json one = nlohmann::json::parse(text, nullptr, false);
    if (one.is_object()) all.update(one);
  };
  add(tuning.key.device.properties);
  for (const cache::SessionRecord& session : tuning.sessions) add(session.key.device.properties);
  if (tuning.best) add(tuning.best->device.properties);
  return all;
}

Device device_as_stored(const report::Tuning& tuning) {
  const cache::DeviceRecord& record = tuning.key.device;
  Device device;
  device.key.l2_bytes = record.l2_bytes;
  device.limits.sm_count = record.sm_count;
  device.limits.compute_capability = record.compute_capability;
  device.limits.max_shared_bytes = record.max_shared_bytes;
  device.limits.registers_per_sm = record.registers_per_sm;
  const nlohmann::json properties = properties_of(tuning);
  const auto read = [&properties](const char* name, double& number) {
    if (const auto at = properties.find(name); at != properties.end() && at->is_number())
      number = std::max(0.0, at->get<double>());
  };
  read("copy_bytes_per_s", device.ceilings.copy);
  read("read_bytes_per_s", device.ceilings.read);
  read("write_bytes_per_s", device.ceilings.write);
  read("fp32_flops_per_s", device.peaks.fp32);
  read("fp64_flops_per_s", device.peaks.fp64);
  read("integer_operations_per_s", device.peaks.integer);
  read("latency_ns", device.peaks.latency_ns);
  read("launch_ns", device.peaks.launch_ns);
  return device;
}

/// The latest measurement of the best, or else what is known of a shipped one.
Trial trial_of_best(const report::Tuning& tuning) {
  const cache::BestRecord& best = *tuning.best;
  const auto at = std::find_if(tuning.trials.rbegin(), tuning.trials.rend(), [&](const report::PlacedTrial& placed) {
    return placed.trial.kind == "ok" && placed.trial.configuration == best.configuration;
  });
  if (at != tuning.trials.rend()) return from_record(at->trial);
  Trial trial;
  trial.configuration = Configuration::parse(best.configuration);
  Measurement measurement;
  measurement.median_ns = best.median_ns;
  measurement.cold = best.kernel.objective != "time_hot";
  trial.outcome = measurement;
  return trial;
}

}  // namespace

std::optional<Verdict> stored_verdict(const KernelSpec& spec, const report::Tuning& tuning) {
  if (!tuning.best) return std::nullopt;
  const cache::ProblemRecord& problem = tuning.key.problem;
  const ProblemSize size{problem.sizes, ProblemSize::parse_choices(problem.choices)};
  try {
    const Device device = device_as_stored(tuning);
    Verdict verdict = explain(spec, size, device, trial_of_best(tuning));
    // Where the device's arithmetic was not seen, much of it may be what everything else waits for.
    const double flops = tuning.amounts.flops.value_or(0), bytes = tuning.amounts.bytes.value_or(0);
    if (verdict.limit == Limit::latency && !verdict.counted && device.peaks.fp32 <= 0 &&
        flops > kMuchArithmetic * bytes)
      verdict.limit = Limit::unknown;
    return verdict;
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // a configuration of a version to come
  }
}

}  // namespace tuner::cli
