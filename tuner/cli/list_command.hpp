#pragma once
/// `tune list`: the kernels that can be named, one line each.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int list_command(int argc, char** argv);

}  // namespace tuner::cli
