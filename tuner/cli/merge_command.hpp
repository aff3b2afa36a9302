#pragma once
/// `tune merge`: unites databases.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int merge_command(int argc, char** argv);

}  // namespace tuner::cli
