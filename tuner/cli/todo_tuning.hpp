#pragma once
/// `tune --todo`: tunes what `tune todo` lists, as a list of problems.

#include <atomic>

#include <tuner/cli/tune_events.hpp>
#include <tuner/cli/tune_request.hpp>

namespace tuner::cli {

/// Tunes the problems that are listed for \p request's device, the most time spent first. Those that are done vanish
/// from the list; one that fails is reported and stays, and makes the exit code kFailed.
int tune_todo(const TuneRequest& request, const std::atomic<bool>& stop, TuneEvents& events);

}  // namespace tuner::cli
