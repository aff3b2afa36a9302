#pragma once
/// `tune import`: results from text written by `tune export`.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int import_command(int argc, char** argv);

}  // namespace tuner::cli
