#pragma once
/// `tune metrics`: what can be counted on a chip, here or not.

namespace tuner::cli {

/// \p argv[0] is the command's name. Returns the exit code; throws UsageError, Error.
int metrics_command(int argc, char** argv);

}  // namespace tuner::cli
