#pragma once
/// Lists the members of every struct that travels between a session and its workers. fields(value) ties them together;
/// serialise.hpp writes and reads them.

#include <concepts>
#include <tuple>
#include <type_traits>

#include <tuner/backend/backend.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/core/problem_size.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {

template <typename V, typename T>
concept Is = std::same_as<std::remove_const_t<V>, T>;

constexpr Phase last(Phase) { return Phase::measure; }
constexpr ErrorCode last(ErrorCode) { return ErrorCode::cache; }

auto fields(Is<DeviceKey> auto& v) {
  return std::tie(v.backend, v.compute_capability, v.sm_count, v.l2_bytes, v.memory_bus_bits, v.max_shared_bytes,
                  v.registers_per_sm, v.cpu);
}
auto fields(Is<DeviceLimits> auto& v) {
  return std::tie(v.warp_size, v.sm_count, v.max_threads_per_block, v.max_block, v.max_grid, v.shared_bytes_per_block,
                  v.max_shared_bytes, v.shared_bytes_per_sm, v.reserved_shared_bytes, v.registers_per_block,
                  v.registers_per_sm, v.max_registers_per_thread, v.max_threads_per_sm, v.max_blocks_per_sm,
                  v.fp32_lanes_per_sm, v.cooperative_launch, v.compute_capability);
}
auto fields(Is<Environment> auto& v) { return std::tie(v.driver, v.compiler); }
auto fields(Is<Ceilings> auto& v) { return std::tie(v.read, v.copy, v.write, v.loaded_latency_ns); }
auto fields(Is<Device> auto& v) { return std::tie(v.key, v.limits, v.environment, v.name, v.index, v.ceilings); }
auto fields(Is<ProblemSize> auto& v) { return std::tie(v.sizes, v.choices); }
auto fields(Is<RecordedLaunch> auto& v) { return std::tie(v.inputs, v.outputs, v.scalars, v.digest); }
auto fields(Is<MeasureOptions> auto& v) {
  return std::tie(v.seed, v.cold, v.verify, v.second_inputs, v.interleave_all, v.guard_bytes, v.min_samples,
                  v.max_samples, v.target_width, v.max_seconds, v.finalist_rounds, v.finalist_samples, v.abandon_factor,
                  v.abandon_samples, v.batch_below_ns, v.hang_floor_s, v.first_run_s, v.metrics, v.metrics_for_all,
                  v.recorded, v.carried);
}

auto fields(Is<SourceLocation> auto& v) { return std::tie(v.file, v.line, v.column); }
auto fields(Is<CompileOption> auto& v) { return std::tie(v.text, v.origin); }
auto fields(Is<CompileRequest> auto& v) {
  return std::tie(v.source, v.file_name, v.expressions, v.defines, v.architecture, v.device_launches, v.options,
                  v.macros, v.include_paths, v.carried);
}
auto fields(Is<IncludedFile> auto& v) { return std::tie(v.path, v.text); }
auto fields(Is<SourceFile> auto& v) { return std::tie(v.path, v.text, v.line, v.of_reference); }
auto fields(Is<CompiledFunction> auto& v) { return std::tie(v.expression, v.symbol, v.resources); }
auto fields(Is<Image> auto& v) { return std::tie(v.code, v.functions, v.log); }

auto fields(Is<Resources> auto& v) {
  return std::tie(v.registers, v.spill_bytes, v.stack_bytes, v.static_shared_bytes, v.constant_bytes, v.blocks_per_sm,
                  v.occupancy);
}
auto fields(Is<Measurement> auto& v) {
  return std::tie(v.samples_ns, v.median_ns, v.low_ns, v.high_ns, v.relative_noise, v.cold, v.throttled, v.converged,
                  v.abandoned, v.clock_mhz, v.metrics, v.no_metrics);
}
auto fields(Is<CompileError> auto& v) { return std::tie(v.message, v.log, v.machine_fault); }
auto fields(Is<LaunchError> auto& v) { return std::tie(v.message, v.machine_fault); }
auto fields(Is<Timeout> auto& v) { return std::tie(v.message); }
auto fields(Is<WrongResult> auto& v) { return std::tie(v.message); }
auto fields(Is<Invalid> auto& v) { return std::tie(v.reason); }
auto fields(Is<TrialTimes> auto& v) { return std::tie(v.compile, v.load, v.verify, v.measure, v.wait); }
auto fields(Is<Trial> auto& v) {
  return std::tie(v.configuration, v.outcome, v.resources, v.verified, v.crashed, v.times);
}

}  // namespace tuner
