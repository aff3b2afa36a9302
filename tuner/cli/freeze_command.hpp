#pragma once
/// `tune freeze`: a database that every process of a job is answered from, the same everywhere.

namespace tuner::cli {

/// Returns the exit code; throws UsageError, tuner::Error and cache::CacheError.
int freeze_command(int argc, char** argv);

}  // namespace tuner::cli
