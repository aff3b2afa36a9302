#pragma once
/// `tune occupancy`: what a configuration needs and how many of its blocks a multiprocessor holds, for any named
/// architecture; compiles, but needs no GPU.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int occupancy_command(int argc, char** argv);

}  // namespace tuner::cli
