#pragma once
/// `tune run`: one configuration by itself.

namespace tuner::cli {

/// \p argv[0] is the command's name. Returns the exit code. Throws UsageError, Error.
int run_command(int argc, char** argv);

}  // namespace tuner::cli
