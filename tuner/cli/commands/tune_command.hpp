#pragma once
/// `tune KERNEL`: the main job. Finds the best configuration for each problem, or answers from the cache.

#include <future>

#include <tuner/backend/backend.hpp>
#include <tuner/cli/commands/tune_jobs.hpp>
#include <tuner/cli/print/progress.hpp>
#include <tuner/cli/print/report.hpp>
#include <tuner/session/wisdom/wisdom.hpp>

namespace tuner::cli {

/// For std::async: without a thread that can be started, whoever asks for the result does the work.
inline constexpr auto kOnAThread = std::launch::async | std::launch::deferred;

/// Adds other hosts to the request. May throw.
using Join = std::function<void(TuneRequest&)>;

/// \p words: the options. Returns the exit code; throws UsageError and tuner::Error. \p join: called before anything is
/// measured; may be empty.
int tune_command(const Texts& words, const Join& join = {});
/// The `tune` program. Returns its exit code.
int tune_main(int argc, char** argv);

/// A device, with what is opened once for all problems that are tuned on it. In use by one problem at a time.
struct Seat {
  Device device;
  /// A problem that loses the device ends with a DeviceLostError, because it is tuned again on another device.
  bool may_be_lost = false;
  bool has_ceilings = false;
  std::unique_ptr<Wisdom> wisdom = nullptr;    ///< null: not open yet
  std::unique_ptr<Backend> backend = nullptr;  ///< for work in this process; null: not open yet

  /// \p console takes the warnings of the databases for as long as they are open.
  void open_wisdom(const TuneRequest& request, Console& console);
};

/// The outcome for one problem.
struct ProblemResult {
  int code = kFailed;                     ///< kDone, kFailed or kInterrupted
  Json document = {};                     ///< with --json
  std::string configuration = {};         ///< empty: not found, or without parameters
  double median_ns = 0;                   ///< 0: not found
  std::optional<double> default_ns = {};  ///< of the default configuration, if it was measured
  bool known = false;                     ///< from the cache, not measured now

  std::vector<std::size_t> lost = {};  ///< devices that were given up, by position; 0 is the seat's
  std::optional<Sweep> sweep = {};     ///< the trials, where the request asks for them

  std::string error = {};          ///< why it could not be tuned; empty: it could, or did not begin
  const Device* device = nullptr;  ///< the first of those it was tuned on
  bool ended = false;

  bool is_found() const { return median_ns > 0; }
};

/// The kernel, problem and device of \p job, and how results are shown. Refers to both.
Subject subject_of(const TuneJob& job, const Seat& seat);
/// Prints which kernel is tuned on which device.
void introduce(const TuneJob& job, const DeviceChoice& devices, Console& console);

/// Tunes the problem of \p job on the device of \p seat and those in its TuningOptions::more_devices. With --dry-run
/// only describes the space. The seat's databases are open by then. The result refers to \p job and \p seat. Throws
/// Error.
ProblemResult tune_problem(const TuneJob& job, Seat& seat, TuneListener& listener, const std::atomic<bool>& stop);

/// The outcome of a command on devices of one kind.
struct TuneOutcome {
  int code = 0;        ///< the worst of all problems
  Json document = {};  ///< with --json
};

/// tune_problem(), or what a test has in its place. Called by several threads at once.
using TuneProblem = std::function<ProblemResult(const TuneJob& job, Seat& seat, TuneListener& listener)>;

/// Tunes the problems of a command on devices of one kind: several at once on several devices (ProblemSpread), or one
/// after the other. Prints each result at once and, for several kernels or devices, a table of all. A problem that
/// fails does not end the others, unless they would fail too. Throws Error and UsageError: for outputs that cannot be
/// written, and if the only problem fails.
TuneOutcome tune_all(TuneJobs jobs, const std::atomic<bool>& stop, Output& output, const TuneProblem& tune);
/// The same with tune_problem().
TuneOutcome tune_all(TuneJobs jobs, const std::atomic<bool>& stop, Output& output);

}  // namespace tuner::cli
