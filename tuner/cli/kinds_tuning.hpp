#pragma once
/// `tune --device 0,host`: devices of different kinds are tuned each kind by itself, side by side.

#include <functional>
#include <vector>

#include <tuner/cli/tune_run.hpp>
#include <tuner/session/backends.hpp>

namespace tuner::cli {

/// Tunes on the devices of one kind, with the exit code of a command of its own. Called on threads of their own.
using TuneKind = std::function<int(TuneRequest, DeviceChoice devices, TuneEvents& events)>;

/// Progress is told of the first kind; results are printed kind by kind, once all are done. Returns the worst exit
/// code. Throws UsageError for options whose file would have two writers.
int tune_kinds(const TuneRequest& request, std::vector<DeviceChoice> kinds, const TuneKind& tune);

}  // namespace tuner::cli
