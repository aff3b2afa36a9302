#pragma once
/// `tune devices`: what runs kernels here, with the numbers that a device query prints.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int devices_command(int argc, char** argv);

}  // namespace tuner::cli
