#pragma once
/// `tune cache`: what the databases hold, whether they are sound, and clearing them.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int cache_command(int argc, char** argv);

}  // namespace tuner::cli
