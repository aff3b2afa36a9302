#pragma once
/// `tune --together`: one rule for all sizes of a kernel.

#include <tuner/cli/commands/tune_command.hpp>
#include <tuner/session/batch/tune_together.hpp>

namespace tuner::cli {

/// The problems of \p jobs by kernel and choices, in the order of the first of each.
std::vector<JointJob> joint_jobs(const TuneJobs& jobs);

/// A stand-in for tune_together() in tests.
using TuneTogether = std::function<JointResult(const JointJob& job, Seat& seat, JointListener& listener)>;

/// Tunes the problems of \p jobs together, for each kernel and choices, and prints the rules. Calls without a result
/// (`tune show --missed`) are the weights of the sizes. Throws Error.
TuneOutcome tune_jobs_together(const TuneJobs& jobs, const std::atomic<bool>& stop, Output& output,
                               TuneTogether tune = {});

}  // namespace tuner::cli
