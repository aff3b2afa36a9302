#pragma once
/// `tune KERNEL`: the main job. Finds the best configuration for each problem, or answers from the cache.

#include <atomic>
#include <functional>

#include <tuner/cli/commands/tune_printer.hpp>
#include <tuner/session/batch/tune_batch.hpp>

namespace tuner::cli {

/// Adds other hosts to the arguments. May throw.
using Join = std::function<void(TuneArguments&)>;

/// \p words: the options. Returns the exit code; throws UsageError and tuner::Error. \p join: called before anything is
/// measured; may be empty.
int tune_command(const Texts& words, const Join& join = {});
/// The `tune` program. Returns its exit code.
int tune_main(int argc, char** argv);

/// Tunes and prints \p jobs. With --dry-run only describes their spaces. Throws Error and UsageError: for outputs that
/// cannot be written, and if the only problem fails. \p tune: for tests.
TuneOutcome tune_jobs(const TuneJobs& jobs, const std::atomic<bool>& stop, Output& output,
                      const TuneProblem& tune = {});

}  // namespace tuner::cli
