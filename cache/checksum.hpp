#pragma once
/// CRC-32 of a sequence of typed fields, each with its length, so that no two different rows look alike by
/// concatenation. Guards rows against flipped bits, not against people. Private to this room.

#include <cstdint>
#include <string>
#include <string_view>

namespace tuner::cache {

/// CRC-32 (ISO 3309, as in zlib).
std::uint32_t crc32(std::string_view bytes);

class Checksum {
 public:
  Checksum() { bytes_.reserve(512); }
  Checksum& add(std::string_view text);
  Checksum& add(const std::string& text) { return add(std::string_view(text)); }
  Checksum& add(const char* text) { return add(std::string_view(text)); }
  Checksum& add(std::int64_t number);
  Checksum& add(int number) { return add(std::int64_t{number}); }
  Checksum& add(bool flag) { return add(std::int64_t{flag}); }
  /// All NaNs are one.
  Checksum& add(double number);
  std::int64_t value() const { return crc32(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace tuner::cache
