#pragma once
/// The messages of a session and its workers over a pair of pipes. A message is a header (magic, version, type, length)
/// and its values. Anything else is a ProtocolError, and the worker is replaced.
///
///   session                          worker
///   open                        →
///                               ←    opened (compile workers are then ready) | failed
///   prepare (run workers)       →
///                               ←    prepared | failed
///   compile, evaluate, remeasure →
///                               ←    phase …, compiled | ran
///   recall                      →    (work that has not begun comes back as ran, without a trial)
///   quit, or the pipe's end     →
///
/// A worker finishes one message before it begins the next. Answers come in the order of the requests.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/core/problem_size.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/runner.hpp>
#include <tuner/worker/serialise.hpp>

namespace tuner {

// The members of every struct that travels between a session and its workers, for serialise.hpp.

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

namespace tuner::worker {

constexpr std::uint16_t kProtocolVersion = 12;
constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 30;

enum class Role : std::uint8_t { compile, run };
constexpr Role last(Role) { return Role::run; }

/// First message to a worker.
struct Open {
  Role role = Role::compile;
  std::string backend;    ///< "cuda" or "host"
  std::vector<int> gpus;  ///< compile workers: IsolatedOptions::gpus
  // The rest is for run workers only.
  std::int32_t device = 0;  ///< ordinal
  std::string source;       ///< the kernel file
  std::string file_name;
  std::vector<SourceFile> sources;  ///< ProgramSpec::sources
  ProblemSize size;
  MeasureOptions measure;
};
/// \p image: of the reference; nothing for a kernel without one.
struct Prepare {
  std::optional<Image> image;
};
struct Compile {
  CompileRequest request;
};
struct Evaluate {
  Configuration configuration;
  Image image;
  double best_ns = 0;
};
struct Remeasure {
  std::vector<Configuration> configurations;
  std::vector<Image> images;  ///< one for each
  double seconds = 0;         ///< after them no further round begins
};
struct Recall {};
struct Quit {};

struct Opened {
  std::optional<Device> device;  ///< run workers
  std::string compiler;          ///< compile workers: Compiler::identity()
};
struct Prepared {};
/// The worker cannot be opened or prepared; \p message gives the reason. \p final: another worker would not help.
struct Failed {
  std::string message;
  bool final = false;
  ErrorCode code{};
};
struct PhaseReport {
  Phase phase = Phase::prepare;
  double limit_s = 0;
};
struct CompileAnswer {
  CompileResult result;
  double seconds = 0;
};
/// One trial for each requested configuration; none when it was recalled.
struct Ran {
  std::vector<Trial> trials;
  bool usable = true;  ///< false: the worker ends now, its device context is lost
};

auto fields(Is<Open> auto& m) {
  return std::tie(m.role, m.backend, m.gpus, m.device, m.source, m.file_name, m.sources, m.size, m.measure);
}
auto fields(Is<Prepare> auto& m) { return std::tie(m.image); }
auto fields(Is<Compile> auto& m) { return std::tie(m.request); }
auto fields(Is<Evaluate> auto& m) { return std::tie(m.configuration, m.image, m.best_ns); }
auto fields(Is<Remeasure> auto& m) { return std::tie(m.configurations, m.images, m.seconds); }
auto fields(Is<Opened> auto& m) { return std::tie(m.device, m.compiler); }
auto fields(Is<Failed> auto& m) { return std::tie(m.message, m.final, m.code); }
auto fields(Is<PhaseReport> auto& m) { return std::tie(m.phase, m.limit_s); }
auto fields(Is<CompileAnswer> auto& m) { return std::tie(m.result, m.seconds); }
auto fields(Is<Ran> auto& m) { return std::tie(m.trials, m.usable); }

using Message = std::variant<Open, Prepare, Compile, Evaluate, Remeasure, Recall, Quit, Opened, Prepared, Failed,
                             PhaseReport, CompileAnswer, Ran>;

/// Header and values.
std::vector<std::byte> encode(const Message& message);

/// Takes messages out of a stream of bytes that arrives in pieces of any size.
class Decoder {
 public:
  void feed(std::span<const std::byte> bytes);
  /// The next whole message; nothing while it is incomplete. Throws ProtocolError; then the stream is lost.
  std::optional<Message> next();

 private:
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
};

}  // namespace tuner::worker
