#pragma once
/// What marks a record: a name that no other has, and a checksum. Private to this room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tuner::cache {

/// A random (version 4) uuid.
std::string make_uuid();
/// `2026-11-21T02:29:51.123Z` of milliseconds since 1970, and its inverse.
std::string instant_text(std::int64_t ms);
std::optional<std::int64_t> parse_instant(const std::string& text);
/// CRC-32 (ISO 3309, as in zlib), continued from \p before: guards rows against flipped bits, not against people.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace tuner::cache
