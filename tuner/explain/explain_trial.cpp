#include <tuner/explain/explain_trial.hpp>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/numbers/throughput.hpp>

namespace tuner {

double arithmetic_peak(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  for (const BufferSpec& buffer : spec.buffers) {
    if (!buffer.is_output()) continue;
    if (buffer.record) return 0;  // has several types
    const DevicePeaks& peaks = device.peaks;
    const ElementTypeInfo& type = info(resolved_type(spec, size, buffer.type));
    if (type.type == ElementType::float32) return peaks.fp32;
    if (type.type == ElementType::float64) return peaks.fp64;
    if (!type.is_floating && type.bytes <= 4) return peaks.integer;
    return 0;
  }
  return 0;
}

namespace {

/// nullopt: not declared, or not for \p configuration, which may be of another version of the kernel file.
std::optional<double> thread_bytes(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                   const Configuration& configuration) {
  if (!spec.work.in_flight) return std::nullopt;
  try {
    return static_cast<double>(spec.work.in_flight->evaluate_integer(bindings(spec, size, limits, configuration)));
  } catch (const Error&) {
    return std::nullopt;
  }
}

VerdictInput input_of(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                      const Configuration& configuration, const Measurement& measured) {
  VerdictInput input;
  input.ns = measured.median_ns;
  input.cold = measured.cold;
  input.device = device;
  input.metrics = measured.metrics;
  const Throughput rate = throughput(spec, size, device, measured.median_ns);
  if (rate.bytes_per_second) input.bytes = *rate.bytes_per_second * measured.median_ns / 1e9;
  if (rate.flops_per_second) input.flops = *rate.flops_per_second * measured.median_ns / 1e9;
  input.thread_bytes = thread_bytes(spec, size, device.limits, configuration);
  input.memory_rate = rate.ceiling_rate.value_or(0);
  input.arithmetic_rate = arithmetic_peak(spec, size, device);
  return input;
}

}  // namespace

Verdict explain(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                const Configuration& configuration, const Measurement& measured,
                const std::vector<LaunchDetail>& launches, bool is_best) {
  VerdictInput input = input_of(spec, size, device, configuration, measured);
  input.is_best = is_best;
  for (const LaunchDetail& launch : launches)
    if (launch.timed) input.launches.push_back(launch);
  return explain(input);
}

Verdict explain(const KernelSpec& spec, const ProblemSize& size, const Device& device, const Trial& trial) {
  VerdictInput input = input_of(spec, size, device, trial.configuration, *trial.measurement());
  input.is_best = true;
  try {
    for (const ResolvedLaunch& launch : resolve_launches(spec, size, device.limits, trial.configuration))
      if (launch.timed) input.launches.emplace_back().shape = launch.shape;
  } catch (const Error&) {
    input.launches.clear();  // of another device, whose shapes are not known here
  }
  if (trial.resources && trial.resources->blocks_per_sm > 0)
    for (LaunchDetail& launch : input.launches) {
      launch.occupancy = Occupancy{trial.resources->blocks_per_sm, trial.resources->occupancy, {}};
      launch.resources = *trial.resources;
    }
  return explain(input);
}

}  // namespace tuner
