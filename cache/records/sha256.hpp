#pragma once
/// SHA-256 in lower-case hexadecimal: content addresses, and the digests of shipped files.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cache {

std::string sha256_hex(std::string_view bytes);
/// CRC-32 (ISO 3309, as in zlib), continued from \p before. It detects flipped bits, not tampering.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);
/// The SHA-256 of \p text, or of what \p part makes of it. For texts that are hashed again and again: it remembers the
/// last few digests. Thread-safe.
using PartOfText = std::string (*)(std::string_view text);
std::string sha256_of_text(std::string_view text, PartOfText part = nullptr);
/// Gives sha256_of_text() the digest of a text, or of a part of it. Thread-safe.
void remember_sha256(std::string_view text, std::string_view digest, PartOfText part = nullptr);
/// The digest of \p parts, each preceded by its length, so that moving a boundary changes it.
std::string sha256_of_parts(const std::vector<std::string_view>& parts);
/// Throws CacheError when \p path cannot be read within 10 minutes. Do not use it on a database that this process has
/// open for writing: closing any descriptor of a file drops SQLite's POSIX locks on it.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace tuner::cache
