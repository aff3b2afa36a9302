#pragma once
/// The outcome of one configuration: a measurement, or one of the expected failures. Failures are values because a
/// tuning learns from them.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/core/values/configuration.hpp>
#include <tuner/error.hpp>

namespace tuner {

/// The resources that a kernel needs, as reported by the compiler and, after loading, the driver. Known before it runs.
struct Resources {
  int registers = 0;    ///< per thread
  int spill_bytes = 0;  ///< stores plus loads, per thread
  int stack_bytes = 0;  ///< per thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t constant_bytes = 0;
  int blocks_per_sm = 0;  ///< resident blocks by the occupancy calculation; 0: unknown
  double occupancy = 0;   ///< resident warps / maximum warps, 0..1; 0: unknown
  std::string target =
      {};  ///< of the compiler: "sm_90", or "sm_90a" for instructions of that chip alone; empty: unknown
};

/// Samples of one configuration with their summary. Times are nanoseconds of one launch or, if the kernel needs
/// several, of all its launches.
struct Measurement {
  std::vector<double> samples_ns;
  double median_ns = 0;
  double low_ns = 0;  ///< 95% confidence interval of the median
  double high_ns = 0;
  double relative_noise = 0;  ///< 1.4826 * median absolute deviation / median
  bool cold = true;           ///< L2 was flushed before every sample
  bool throttled = false;     ///< samples were repeated because the clocks dropped

  bool converged = false;  ///< the interval reached its target before the trial's budget ended
  bool abandoned = false;  ///< stopped early because it was clearly worse than the best

  double clock_mhz = 0;                   ///< median SM clock during the kernel; 0: unknown
  std::map<std::string, double> metrics;  ///< by name, in the units of metric.hpp
  std::string no_metrics;                 ///< why requested metrics are missing; empty if none are
};

/// The compiler failed. \p log is its output.
struct CompileError {
  std::string message;
  std::string log;
  bool machine_fault = false;  ///< see is_machine_fault()
};
/// The kernel could not be loaded or launched, or faulted while running (illegal address, trap, worker killed).
struct LaunchError {
  std::string message;
  std::uintptr_t address = 0;         ///< the address that was accessed; 0: unknown
  bool machine_fault = false;         ///< see is_machine_fault()
  ErrorCode code = ErrorCode::other;  ///< for an exception about it; workers do not send it
};
/// The kernel did not end within its limit.
struct Timeout {
  std::string message;
};
/// The kernel ran, but its output differs from the reference. \p message names the place and both values.
struct WrongResult {
  std::string message;
};
/// The configuration cannot run on this device or size and was not launched. \p reason names the limit or constraint.
struct Invalid {
  std::string reason;
};

using Outcome = std::variant<Measurement, CompileError, LaunchError, Timeout, WrongResult, Invalid>;

/// The alternatives of an Outcome, in their order.
enum class OutcomeKind { ok, compile, launch, timeout, wrong, invalid };
/// "ok", "compile", "launch", "timeout", "wrong", "invalid": the words of tables, logs and databases.
std::span<const std::string_view> outcome_names();
/// The kind with this name.
std::optional<OutcomeKind> outcome_kind(std::string_view name);
/// A failure of \p kind. Only CompileError has a \p log. Precondition: \p kind is not ok.
Outcome failure(OutcomeKind kind, std::string message, std::string log = {});
/// The name of the kind of \p outcome.
std::string_view kind(const Outcome& outcome);
/// The message of a failure; empty for a measurement.
std::string_view message(const Outcome& outcome);
/// Whether the machine failed, not the configuration: a full disk, no memory, no more processes. Such an outcome is
/// never stored, because the configuration may work the next time.
bool is_machine_fault(const Outcome& outcome);

/// The parts of the time of one trial, seconds.
struct TrialTimes {
  double compile = 0, load = 0, verify = 0, measure = 0, wait = 0;

  TrialTimes& operator+=(const TrialTimes& other);
};

/// The first measurement of a configuration that was measured again as a finalist.
struct SearchTime {
  double median_ns = 0;
  double low_ns = 0;
  double high_ns = 0;
};

/// One configuration and its outcome.
struct Trial {
  Configuration configuration;
  Outcome outcome;
  std::optional<Resources> resources = {};  ///< not set if it never compiled
  bool verified = false;                    ///< its output matched the reference
  bool crashed = false;                     ///< the process that ran it crashed or hung: must not run there again
  TrialTimes times = {};
  int lane = 0;  ///< the device of the session that ran it, from 1; 0: there is only one
  /// Trials with the same number took their k-th samples at nearly the same moment. 0: no such trial.
  int round = 0;
  /// Of a finalist: the outcome is its second measurement. Two configurations are compared by times of one kind.
  std::optional<SearchTime> search = {};

  /// The measurement, or nullptr for a failure.
  const Measurement* measurement() const { return std::get_if<Measurement>(&outcome); }
  /// Its times in the search, whether or not it was a finalist. Precondition: it has a measurement.
  SearchTime in_search() const {
    const Measurement& last = *measurement();
    return search.value_or(SearchTime{last.median_ns, last.low_ns, last.high_ns});
  }
};

/// The time of \p one over that of \p other: among the finalists if both were, else in the search. Precondition: both
/// have measurements.
double time_ratio(const Trial& one, const Trial& other);

/// The first line of the most frequent message of failures of \p kind, or of all for an empty one; empty without any.
std::string usual_failure(std::span<const Trial> trials, std::string_view kind = {});

}  // namespace tuner
