#pragma once
/// What is known about this machine's CPU.

#include <string>

#include <tuner/core/device.hpp>

namespace tuner::host {

/// Limits are those of a GPU, so that the same spaces can be searched. \p compiler: name and version.
Device discover(unsigned threads, const std::string& compiler);

/// Streams through memory with \p threads threads; about 0.1 s. Measured once in a process.
const Ceilings& ceilings(unsigned threads, std::int64_t cache_bytes);

/// Reads through a buffer (at most 64 MiB) so that nothing else is left in the last-level cache.
void flush_cache(std::int64_t cache_bytes);

}  // namespace tuner::host
