#pragma once
/// CRC-32: guards rows against flipped bits, not against people. Private to this room.

#include <cstdint>
#include <string_view>

namespace tuner::cache {

/// CRC-32 (ISO 3309, as in zlib), continued from \p before.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace tuner::cache
