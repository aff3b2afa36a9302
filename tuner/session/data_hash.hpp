#pragma once
/// Hashes of data files, which are part of a kernel. Private to this room.

#include <filesystem>
#include <string>

namespace tuner {

/// The SHA-256 of \p file as it is now. A file is read once, until it changes. One that cannot be read has a special
/// hash; no kernel can be measured with it. Thread-safe.
std::string hash_of_data(const std::filesystem::path& file);

}  // namespace tuner
