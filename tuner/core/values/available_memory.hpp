#pragma once

#include <cstdint>
#include <filesystem>

namespace tuner {

/// Bytes of memory that this process may still take: those that the machine has left. Its control groups (cgroup v1 and
/// v2) may allow fewer. 0 if the system does not say. \p root: of the system's files.
std::uint64_t available_memory(const std::filesystem::path& root = "/");

}  // namespace tuner
