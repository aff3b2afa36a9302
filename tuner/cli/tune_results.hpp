#pragma once
/// Prints the results of all problems of a command together, for people and for programs.

#include <string>
#include <vector>

#include <tuner/cli/tune_problem.hpp>

namespace tuner::cli {

/// A problem of a command, and its outcome.
struct TunedProblem {
  ProblemResult result = {};
  std::string error = {};          ///< why it could not be tuned; empty: it could, or did not begin
  const Device* device = nullptr;  ///< the first of those it was tuned on
  bool ended = false;
};

/// The speed-up over the kernel's default configuration; empty if that was not measured.
std::string against_default(const ProblemResult& result);

/// A table with a line for each problem, and how many were tuned.
void print_table(const TuneJobs& jobs, const std::vector<TunedProblem>& all, bool interrupted, Output& output);
/// `--by` and `--csv`: the trials of all problems of a kernel.
void print_sweeps(const TuneJobs& jobs, const std::vector<TunedProblem>& all, Output& output);
/// The document of a command with --json.
Json json_results(const TuneJobs& jobs, const std::vector<TunedProblem>& all, bool interrupted);

}  // namespace tuner::cli
