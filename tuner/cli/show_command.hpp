#pragma once
/// `tune show`: the best known configurations, by kernel and device.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int show_command(int argc, char** argv);

}  // namespace tuner::cli
