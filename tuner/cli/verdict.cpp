#include <tuner/cli/verdict.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/core/error.hpp>
#include <tuner/measure/throughput.hpp>

namespace tuner::cli {
namespace {

/// Multiply-adds/s that the device reached in the type that \p subject computes in: that of its first output. 0 for
/// types that were not measured.
double arithmetic_peak(const Subject& subject) {
  for (const BufferSpec& buffer : subject.spec->buffers) {
    if (buffer.role != BufferRole::out && buffer.role != BufferRole::inout) continue;
    const DevicePeaks& peaks = subject.device->peaks;
    const ElementTypeInfo& type = info(resolved_type(*subject.spec, *subject.size, buffer.type));
    if (type.type == ElementType::float32) return peaks.fp32;
    if (type.type == ElementType::float64) return peaks.fp64;
    if (!type.is_floating && type.bytes <= 4) return peaks.integer;
    return 0;
  }
  return 0;
}

VerdictInput input_of(const Subject& subject, const Measurement& measured) {
  VerdictInput input;
  input.ns = measured.median_ns;
  input.cold = measured.cold;
  input.limits = subject.device->limits;
  input.l2_bytes = subject.device->key.l2_bytes;
  input.metrics = measured.metrics;
  input.metrics.erase("clock_step_ns");  // of the measuring, not of the kernel
  const Throughput rate = throughput(*subject.spec, *subject.size, *subject.device, measured.median_ns);
  if (rate.bytes_per_second) input.bytes = *rate.bytes_per_second * measured.median_ns / 1e9;
  if (rate.flops_per_second) input.flops = *rate.flops_per_second * measured.median_ns / 1e9;
  if (rate.bytes_per_second && rate.ceiling_fraction && *rate.ceiling_fraction > 0)
    input.rates.memory = *rate.bytes_per_second / *rate.ceiling_fraction;
  input.rates.arithmetic = arithmetic_peak(subject);
  input.rates.latency_ns = subject.device->peaks.latency_ns;
  input.rates.launch_ns = subject.device->peaks.launch_ns;
  return input;
}

}  // namespace

Verdict verdict(const Subject& subject, const Measurement& measured, const std::vector<LaunchDetail>& launches) {
  VerdictInput input = input_of(subject, measured);
  for (const LaunchDetail& launch : launches)
    input.launches.push_back({launch.shape, launch.occupancy, launch.resources.spill_bytes});
  return explain(input);
}

Verdict verdict(const Subject& subject, const Trial& trial) {
  VerdictInput input = input_of(subject, *trial.measurement());
  try {
    for (const ResolvedLaunch& launch :
         resolve_launches(*subject.spec, *subject.size, subject.device->limits, trial.configuration))
      input.launches.push_back({launch.shape, std::nullopt, 0});
  } catch (const Error&) {
    input.launches.clear();  // of another device: its shapes are not known here
  }
  if (trial.resources && trial.resources->blocks_per_sm > 0)
    for (LaunchUse& launch : input.launches) {
      launch.occupancy = Occupancy{trial.resources->blocks_per_sm, trial.resources->occupancy, {}};
      launch.spill_bytes = trial.resources->spill_bytes;
    }
  return explain(input);
}

std::string limit_text(const Verdict& verdict) {
  return fmt::format("{}: {}{}", name(verdict.limit), verdict.reason,
                     verdict.counted || verdict.limit == Limit::unknown ? "" : " (by the model, without counters)");
}

Json to_json(const Verdict& verdict) {
  return {{"limit", name(verdict.limit)}, {"reason", verdict.reason},   {"counted", verdict.counted},
          {"busiest", verdict.busiest},   {"numbers", verdict.numbers}, {"remarks", verdict.remarks}};
}

}  // namespace tuner::cli
