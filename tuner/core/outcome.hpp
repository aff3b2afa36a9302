#pragma once
/// What became of one configuration: a measurement, or one of the expected failures. Failures are values: a tuning
/// session learns from them.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/core/configuration.hpp>
#include <tuner/error.hpp>

namespace tuner {

/// What the compiler (and, once loaded, the driver) says a kernel needs. Known before anything runs.
struct Resources {
  int registers = 0;    ///< per thread
  int spill_bytes = 0;  ///< stores plus loads, per thread
  int stack_bytes = 0;  ///< per thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t constant_bytes = 0;
  int blocks_per_sm = 0;  ///< resident blocks by the occupancy calculation; 0 when unknown
  double occupancy = 0;   ///< resident warps / maximum warps, 0..1; 0 when unknown
};

/// Samples of one configuration with their summary. Times are nanoseconds of one launch (of all launches of the
/// kernel, when it needs several).
struct Measurement {
  std::vector<double> samples_ns;
  double median_ns = 0;
  double low_ns = 0;  ///< 95% confidence interval of the median
  double high_ns = 0;
  double relative_noise = 0;              ///< 1.4826 * median absolute deviation / median
  bool cold = true;                       ///< L2 flushed before every sample
  bool throttled = false;                 ///< samples were retaken because the clocks dropped
  bool converged = false;                 ///< the interval reached its target before the trial's budget ended
  bool abandoned = false;                 ///< stopped early: clearly worse than the best
  double clock_mhz = 0;                   ///< median SM clock seen in kernel; 0 when unknown
  std::map<std::string, double> metrics;  ///< by name, in the units of metric.hpp
  std::string no_metrics;                 ///< why metrics that were asked for are not there; empty when they are
};

/// Failed in the compiler. \p log is its output.
struct CompileError {
  std::string message;
  std::string log;
  bool machine_fault = false;  ///< see is_machine_fault()
};
/// Failed to load or launch, or faulted while running (illegal address, trap, worker killed).
struct LaunchError {
  std::string message;
  std::uintptr_t address = 0;         ///< that a fault touched, where it is known; for who knows what lies there
  bool machine_fault = false;         ///< see is_machine_fault()
  ErrorCode code = ErrorCode::other;  ///< of what an exception would be thrown for; not told between processes
};
/// Did not end within its limit.
struct Timeout {
  std::string message;
};
/// Ran, but its output differs from the reference. \p message names the place and both values.
struct WrongResult {
  std::string message;
};
/// Cannot run on this device or size; never launched. \p reason names the limit or constraint.
struct Invalid {
  std::string reason;
};

using Outcome = std::variant<Measurement, CompileError, LaunchError, Timeout, WrongResult, Invalid>;

/// The alternatives of an Outcome, in their order.
enum class OutcomeKind { ok, compile, launch, timeout, wrong, invalid };
/// "ok", "compile", "launch", "timeout", "wrong", "invalid": the words of tables, logs and databases.
std::string_view name(OutcomeKind kind);
std::span<const std::string_view> outcome_names();
/// Inverse of name().
std::optional<OutcomeKind> outcome_kind(std::string_view name);
/// A failure of \p kind; \p log is kept by those that have one. Precondition: \p kind is not ok.
Outcome failure(OutcomeKind kind, std::string message, std::string log = {});
/// name() of the kind of \p outcome.
std::string_view kind(const Outcome& outcome);
/// The message of a failure; empty for a measurement.
std::string_view message(const Outcome& outcome);
/// Whether the machine failed and not the configuration: a full disk, no memory, no process. Such an outcome is never
/// stored, because the same configuration may work the next time.
bool is_machine_fault(const Outcome& outcome);

/// Where the time of one trial went, seconds.
struct TrialTimes {
  double compile = 0, load = 0, verify = 0, measure = 0, wait = 0;

  TrialTimes& operator+=(const TrialTimes& other);
};

/// One configuration and what became of it, failures included.
struct Trial {
  Configuration configuration;
  Outcome outcome;
  std::optional<Resources> resources = {};  ///< absent when it never compiled
  bool verified = false;                    ///< its output matched the reference
  bool crashed = false;                     ///< killed or hung what ran it: not to be run there again
  TrialTimes times = {};
  int lane = 0;   ///< which of a session's devices ran it, from 1; 0: there was only one
  int round = 0;  ///< sample k of all trials with this number was taken at nearly the same moment; 0: of no other

  /// The measurement, or nullptr for a failure.
  const Measurement* measurement() const { return std::get_if<Measurement>(&outcome); }
};

}  // namespace tuner
