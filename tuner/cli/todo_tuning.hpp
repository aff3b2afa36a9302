#pragma once
/// `tune --todo`: tunes what `tune todo` lists, one problem after the other.

#include <atomic>
#include <functional>

#include <tuner/cli/json.hpp>
#include <tuner/cli/tune_request.hpp>

namespace tuner::cli {

/// Tunes one problem, with the exit code of a command of its own; adds its document to the list of documents where
/// --json asks for one.
using TuneOne = std::function<int(TuneRequest, Json* documents)>;

/// Tunes the problems that are listed for \p request's device, the most time spent first. Those that are done vanish
/// from the list; one that fails is reported and stays, and makes the exit code kFailed.
int tune_todo(const TuneRequest& request, const std::atomic<bool>& stop, const TuneOne& tune);

}  // namespace tuner::cli
