#pragma once
/// Properties of this machine's CPU.

#include <string>

#include <tuner/core/device.hpp>

namespace tuner::host {

/// The limits are those of a GPU, so that the same spaces can be searched. \p compiler: name and version.
Device discover(unsigned threads, const std::string& compiler);

/// Measures the memory's rates with \p threads threads, in about 0.1 s and once in a process.
const Ceilings& ceilings(unsigned threads, std::int64_t cache_bytes);

/// Reads a buffer of at most 64 MiB, so that the last-level cache holds nothing else.
void flush_cache(std::int64_t cache_bytes);

}  // namespace tuner::host
