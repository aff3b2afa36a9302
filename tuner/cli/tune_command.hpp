#pragma once
/// `tune KERNEL`: the main job. Finds the best configuration for each problem, or answers from the cache.

#include <functional>

#include <tuner/cli/tune_request.hpp>

namespace tuner::cli {

/// Adds other hosts to the request. May throw.
using Join = std::function<void(TuneRequest&)>;

/// Returns the exit code; throws UsageError and tuner::Error. \p join: called before anything is measured; may be
/// empty.
int tune_command(int argc, char** argv, const Join& join = {});

}  // namespace tuner::cli
