#pragma once
/// Tunes a list of problems on devices of one kind: several at once on several devices (ProblemSpread), one after the
/// other on one device.

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include <tuner/cli/tune_run.hpp>

namespace tuner::cli {

/// run_job(): tunes the one problem of a job on the devices of that job. Called by several threads at once. Throws
/// DeviceLostError when the devices cannot be used any more.
using TuneShare = std::function<int(TuneJob job, TuneEvents& events, Seat& seat)>;

/// Tunes the problems of \p request.list. Reads all lines before anything is tuned, and leaves out repeated problems.
/// \p devices replace those of the request. Returns the worst exit code; kFailed if a problem stays untuned. Throws
/// UsageError and Error that begin with the line's place.
int tune_list(const TuneRequest& request, std::optional<DeviceChoice> devices, const std::atomic<bool>& stop,
              TuneEvents& events);
/// The same for the problems of \p job, with one document of all.
int tune_spread(const TuneJob& job, const std::atomic<bool>& stop, TuneEvents& events);

/// The outcome of a list.
struct SpreadResult {
  int code = 0;
  /// With --json for each job its document, or one with kernel, problem and error.
  std::vector<Json> documents;
};
/// Used by both: tunes \p jobs, of one problem each, on \p devices. Prints each result at once, and a table of all.
SpreadResult tune_jobs(std::vector<TuneJob> jobs, const DeviceChoice& devices, const std::atomic<bool>& stop,
                       TuneEvents& events, const TuneShare& tune);

}  // namespace tuner::cli
