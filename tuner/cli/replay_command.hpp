#pragma once
/// `tune replay`: search strategies against recorded spaces, scored by the community's methodology.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int replay_command(int argc, char** argv);

}  // namespace tuner::cli
