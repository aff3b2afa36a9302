#pragma once
/// Unique names, times as text and checksums for records. Private to this room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tuner::cache {

/// A random (version 4) uuid.
std::string make_uuid();
/// Converts milliseconds since 1970 to `2026-11-21T02:29:51.123Z`; the second function is the inverse.
std::string instant_text(std::int64_t ms);
std::optional<std::int64_t> parse_instant(const std::string& text);
/// CRC-32 (ISO 3309, as in zlib), continued from \p before. It detects flipped bits, not tampering.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace tuner::cache
