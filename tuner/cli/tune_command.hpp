#pragma once
/// `tune --kernel NAME`: the main job. Finds the best configuration for each problem, or answers from the cache.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int tune_command(int argc, char** argv);

}  // namespace tuner::cli
