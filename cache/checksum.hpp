#pragma once
/// CRC-32: guards rows against flipped bits, not against people. Private to this room.

#include <cstdint>
#include <string_view>

#include <zlib.h>

namespace tuner::cache {

/// CRC-32 (ISO 3309, as in zlib), continued from \p before.
inline std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0) {
  // zlib's crc32() takes 32-bit lengths; crc32_z takes all.
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace tuner::cache
