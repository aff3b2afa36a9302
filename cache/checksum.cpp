#include <cache/checksum.hpp>

#include <zlib.h>

namespace tuner::cache {

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  // zlib takes 32-bit lengths; crc32_z takes all.
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace tuner::cache
