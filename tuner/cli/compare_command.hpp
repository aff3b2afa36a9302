#pragma once
/// `tune compare`: what became faster or slower between two databases, texts or devices.

namespace tuner::cli {

/// A confirmed slow-down.
inline constexpr int kSlower = 3;

/// Returns the exit code; throws UsageError and tuner::Error.
int compare_command(int argc, char** argv);

}  // namespace tuner::cli
