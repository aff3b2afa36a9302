#include <cache/checksum.hpp>

#include <bit>
#include <cmath>

#include <zlib.h>

namespace tuner::cache {

std::uint32_t crc32(std::string_view bytes) {
  // zlib takes 32-bit lengths; crc32_z takes all.
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Checksum& Checksum::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  bytes_.append(text);
  return *this;
}

Checksum& Checksum::add(std::int64_t number) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> shift));
  }
  return *this;
}

Checksum& Checksum::add(double number) {
  return add(std::isnan(number) ? std::int64_t{-1} : std::bit_cast<std::int64_t>(number));
}

}  // namespace tuner::cache
