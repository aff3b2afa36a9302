#pragma once
/// The problems that a `tune` command names: those of a kernel, of a list, or those that calls missed.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cache/query/browse.hpp>

#include <tuner/cli/input/tune_request.hpp>
#include <tuner/cli/print/terminal.hpp>
#include <tuner/recording/launch_recording.hpp>

namespace tuner::cli {

/// A problem, and how it is tuned.
struct TuneJob {
  TuneRequest request;
  std::shared_ptr<const Recording> recording;  ///< null: none
  std::shared_ptr<const KernelSpec> spec;
  ProblemSize size;
  std::vector<std::string> notes = {};         ///< lines to print before it is tuned
  std::optional<cache::MissRecord> miss = {};  ///< of --missed: forgotten when it is tuned

  std::string name() const { return spec->name + ' ' + size.text(); }
};

/// All that a command tunes on the devices of one kind. Each problem is there once.
struct TuneJobs {
  TuneRequest request;  ///< as the command line has it
  DeviceChoice devices;
  std::vector<TuneJob> all;
  /// The member of the JSON document that holds a document for each problem. Empty: all problems are of one kernel and
  /// share a document.
  std::string list;
  std::size_t misses = 0;  ///< of --missed: the number on the list, with those that cannot be read
};

/// Reads all kernels that \p request names. Throws UsageError and Error; for a list they begin with the line's place.
/// Of --missed, the most time spent comes first, and a kernel that cannot be read is reported on \p console.
TuneJobs read_jobs(const TuneRequest& request, const DeviceChoice& devices, Console& console);

}  // namespace tuner::cli
