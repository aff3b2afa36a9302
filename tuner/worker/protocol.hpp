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
///   recall, hurry               →    (work that is taken back comes back as ran, without a trial)
///   quit, or the pipe's end     →
///                               ←    warning, beat, last words (at any time)
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
#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {

template <typename V, typename T>
concept Is = std::same_as<std::remove_const_t<V>, T>;

// The members of the structs that travel between a session and its workers, and that records store as well. The members
// of the other structs are in protocol.cpp.

auto fields(Is<Resources> auto& v) {
  return std::tie(v.registers, v.spill_bytes, v.stack_bytes, v.static_shared_bytes, v.constant_bytes, v.blocks_per_sm,
                  v.occupancy, v.target);
}
auto fields(Is<Measurement> auto& v) {
  return std::tie(v.samples_ns, v.median_ns, v.low_ns, v.high_ns, v.relative_noise, v.cold, v.throttled, v.converged,
                  v.abandoned, v.clock_mhz, v.metrics, v.no_metrics);
}
auto fields(Is<TrialTimes> auto& v) { return std::tie(v.compile, v.load, v.verify, v.measure, v.wait); }

}  // namespace tuner

namespace tuner::worker {

constexpr std::uint16_t kProtocolVersion = 18;
constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 30;

/// The bytes are not a message of this protocol.
class ProtocolError : public Error {
 public:
  using Error::Error;
};

enum class Role : std::uint8_t { compile, run };

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
/// One launch on the problem, neither verified nor timed, answered like Evaluate. Needs no Prepare.
struct LaunchOnce {
  Configuration configuration;
  Image image;
};
struct Remeasure {
  std::vector<Configuration> configurations;
  std::vector<Image> images;           ///< one for each
  double seconds = 0;                  ///< after them no further round begins
  std::vector<Configuration> checked;  ///< of them: Runner::Finalist::is_checked
  std::uint32_t placement = 0;         ///< of Runner::remeasure()
};
/// Takes back work that has not begun. \p running: the evaluation that runs ends after its present launch.
struct Recall {
  bool running = false;
};
/// Sent at any time after `open`: Evaluator::hurry().
struct Hurry {};
struct Quit {};

struct Opened {
  std::optional<Device> device;  ///< run workers
  std::string compiler;          ///< compile workers: Compiler::identity()
};
struct Prepared {
  std::vector<std::string> remarks;  ///< Runner::remarks()
};
/// The worker cannot be opened or prepared; \p message gives the reason. \p final: another worker would not help.
struct Failed {
  std::string message;
  bool final = false;
  ErrorCode code{};
};
struct PhaseReport {
  Phase phase = Phase::prepare;
  double limit_s = 0;
  bool runs_kernel = false;
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

/// For the user.
struct Warning {
  std::string text;
};

/// Sent a few times a second while the worker works. \p seconds: of Pulse, since the last beat.
struct Beat {
  double seconds = 0;
};
/// The worker is about to end by \p signal, or by exit() if that is 0. Its parent may not learn this otherwise.
struct LastWords {
  std::int32_t signal = 0;
};

using Message = std::variant<Open, Prepare, Compile, Evaluate, LaunchOnce, Remeasure, Recall, Hurry, Quit, Opened,
                             Prepared, Failed, PhaseReport, CompileAnswer, Ran, Warning, Beat, LastWords>;

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
