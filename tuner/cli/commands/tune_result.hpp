#pragma once
/// The output of `tune` about one problem: the space that would be searched, and the result.

#include <tuner/cli/commands/tune_jobs.hpp>
#include <tuner/cli/print/progress.hpp>
#include <tuner/cli/print/session_result.hpp>

namespace tuner::cli {

/// A result as it is printed, and what the table of all problems shows of it.
struct PrintedResult {
  int code = kFailed;                       ///< kDone, kFailed or kInterrupted
  Json document = {};                       ///< with --json
  std::string configuration = {};           ///< Empty: not found, or without parameters.
  double median_ns = 0;                     ///< 0: not found
  std::optional<double> over_default = {};  ///< The default's time over the best's, both of one kind.
  bool known = false;                       ///< from the cache, not measured now
  std::optional<Sweep> sweep = {};          ///< the trials, where the options ask for them
  std::string error = {};                   ///< why it could not be tuned; empty: it could, or did not begin

  bool is_found() const { return median_ns > 0; }
};

/// The kernel and problem of \p job on \p device, and how results are shown. Refers to both.
Subject subject_of(const TuneArguments& arguments, const TuneJob& job, const Device& device);

/// Prints which kernel is tuned on which devices.
void introduce(const TuneJob& job, const DeviceChoice& devices, Console& console);

/// Prints the space that a tuning would search, or returns it as a document.
PrintedResult describe_space(const TuneArguments& arguments, const TuneJob& job, const Device& device, Output& output);

/// Prints \p result of \p job, or returns it as a document. \p device is its device, to which the returned sweep
/// refers. \p listener received the events of the tuning.
PrintedResult print_result(const TuneArguments& arguments, const TuneJob& job, const ProblemResult& result,
                           const Device& device, const TuneListener& listener);

}  // namespace tuner::cli
