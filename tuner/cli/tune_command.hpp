#pragma once
/// `tune KERNEL`: the main job. Finds the best configuration for each problem, or answers from the cache.

#include <tuner/cli/tune_problem.hpp>

namespace tuner::cli {

/// Adds other hosts to the request. May throw.
using Join = std::function<void(TuneRequest&)>;

/// \p words: the options. Returns the exit code; throws UsageError and tuner::Error. \p join: called before anything is
/// measured; may be empty.
int tune_command(const Texts& words, const Join& join = {});
/// The `tune` program. Returns its exit code.
int tune_main(int argc, char** argv);

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

/// Tunes on the devices of one kind, as a command for this kind alone would. Called on several threads at once.
using TuneKind = std::function<TuneOutcome(const TuneRequest&, const DeviceChoice& devices, Output& output)>;
/// `tune --device 0,host`: tunes on several kinds of devices at once, each kind by itself. Shows the progress of the
/// first kind. Prints results kind by kind, after all are done. Returns the worst exit code. Throws UsageError for
/// options whose file would have two writers.
int tune_kinds(const TuneRequest& request, const std::vector<DeviceChoice>& devices, const TuneKind& tune);

}  // namespace tuner::cli
