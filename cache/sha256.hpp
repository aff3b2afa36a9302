#pragma once
/// SHA-256 in lower-case hexadecimal: content addresses, and the digests of shipped files.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cache {

std::string sha256_hex(std::string_view bytes);
/// The same of a text that is asked about again and again: those of the last few are remembered. Thread-safe.
std::string sha256_of_text(std::string_view text);
/// Of \p parts, each preceded by its length, so that moving a boundary changes the digest.
std::string sha256_of_parts(const std::vector<std::string_view>& parts);
/// Throws CacheError when \p path cannot be read. Must not be used on a database that this process has open for
/// writing: closing any descriptor of a file drops SQLite's locks on it (POSIX).
std::string sha256_file(const std::filesystem::path& path);

}  // namespace tuner::cache
