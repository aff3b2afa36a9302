#pragma once
/// `tune --device 0,host`: tunes on several kinds of devices at once, each kind by itself.

#include <functional>
#include <vector>

#include <tuner/cli/tune_run.hpp>
#include <tuner/session/backends.hpp>

namespace tuner::cli {

/// Tunes on the devices of one kind, as a command for this kind alone would, and returns its exit code. Called on
/// several threads at once.
using TuneKind = std::function<int(TuneRequest, DeviceChoice devices, TuneEvents& events)>;

/// Shows the progress of the first kind. Prints results kind by kind, after all are done. Returns the worst exit code.
/// Throws UsageError for options whose file would have two writers.
int tune_kinds(const TuneRequest& request, std::vector<DeviceChoice> kinds, const TuneKind& tune);

}  // namespace tuner::cli
