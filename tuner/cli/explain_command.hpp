#pragma once
/// `tune explain`: which configuration a call would be served with, from where and why.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int explain_command(int argc, char** argv);

}  // namespace tuner::cli
