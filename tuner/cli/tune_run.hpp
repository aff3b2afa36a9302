#pragma once
/// Tunes the problems of a command on devices of one kind: several at once on several devices (ProblemSpread), or one
/// after the other. A single problem is a list of one.

#include <atomic>
#include <functional>

#include <tuner/cli/tune_problem.hpp>

namespace tuner::cli {

/// The outcome of a command on devices of one kind.
struct TuneOutcome {
  int code = 0;        ///< the worst of all problems
  Json document = {};  ///< with --json
};

/// tune_problem(), or what a test has in its place. Called by several threads at once.
using TuneProblem = std::function<ProblemResult(const TuneJob& job, Seat& seat, TuneListener& listener)>;

/// Prints each result at once and, for several kernels or devices, a table of all. A problem that fails does not end
/// the others, unless they would fail too. Throws Error and UsageError: for outputs that cannot be written, and if the
/// only problem fails.
TuneOutcome tune_all(TuneJobs jobs, const std::atomic<bool>& stop, Output& output, const TuneProblem& tune);
/// The same with tune_problem().
TuneOutcome tune_all(TuneJobs jobs, const std::atomic<bool>& stop, Output& output);

}  // namespace tuner::cli
