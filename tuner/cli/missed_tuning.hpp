#pragma once
/// `tune --missed`: tunes what `tune show --missed` lists, as a list of problems.

#include <atomic>

#include <tuner/cli/tune_events.hpp>
#include <tuner/cli/tune_request.hpp>

namespace tuner::cli {

/// Tunes the problems that are listed for the device of \p request, the most time spent first. Tuned problems leave the
/// list. One that fails is reported, stays, and makes the exit code kFailed.
int tune_missed(const TuneRequest& request, const std::atomic<bool>& stop, TuneEvents& events);

}  // namespace tuner::cli
