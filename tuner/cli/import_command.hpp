#pragma once
/// `tune import`: results from text written by `tune export`.

#include <cstdint>

namespace tuner::cli {

/// Compressed; what it may hold is read_text()'s to limit.
inline constexpr std::int64_t kMaxWisdomFileBytes = std::int64_t{256} << 20;

/// Returns the exit code; throws UsageError and tuner::Error.
int import_command(int argc, char** argv);

}  // namespace tuner::cli
