#pragma once
/// `tune export`: results as reviewable text.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int export_command(int argc, char** argv);

}  // namespace tuner::cli
