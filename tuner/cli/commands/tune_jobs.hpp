#pragma once
/// The problems that a `tune` command names: those of a kernel, of a list, or those that calls missed.

#include <cstddef>
#include <string>

#include <tuner/cli/input/tune_arguments.hpp>
#include <tuner/cli/print/terminal.hpp>
#include <tuner/session/batch/tune_request.hpp>

namespace tuner::cli {

/// All that a command tunes, and how it is printed.
struct TuneJobs {
  TuneArguments arguments;
  TuneRequest request;
  /// The member of the JSON document that holds a document for each problem. Empty: all problems are of one kernel and
  /// share a document.
  std::string list = {};
  std::size_t misses = 0;  ///< of --missed: the number on the list, with those that cannot be read
};

/// Reads all kernels that \p arguments name. Throws UsageError and Error; for a list they begin with the line's place.
/// With --missed, the most time spent comes first, and a kernel that cannot be read is reported on \p console.
TuneJobs make_jobs(const TuneArguments& arguments, const DeviceChoice& devices, Console& console);

}  // namespace tuner::cli
