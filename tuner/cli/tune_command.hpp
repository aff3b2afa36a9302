#pragma once
/// `tune KERNEL`: the main job. Finds the best configuration for each problem, or answers from the cache.

#include <functional>
#include <vector>

#include <tuner/cli/tune_run.hpp>

namespace tuner::cli {

/// Adds other hosts to the request. May throw.
using Join = std::function<void(TuneRequest&)>;

/// Returns the exit code; throws UsageError and tuner::Error. \p join: called before anything is measured; may be
/// empty.
int tune_command(int argc, char** argv, const Join& join = {});

/// Tunes on the devices of one kind, as a command for this kind alone would. Called on several threads at once.
using TuneKind = std::function<TuneOutcome(const TuneRequest&, const DeviceChoice& devices, Output& output)>;
/// `tune --device 0,host`: tunes on several kinds of devices at once, each kind by itself. Shows the progress of the
/// first kind. Prints results kind by kind, after all are done. Returns the worst exit code. Throws UsageError for
/// options whose file would have two writers.
int tune_kinds(const TuneRequest& request, const std::vector<DeviceChoice>& devices, const TuneKind& tune);

}  // namespace tuner::cli
