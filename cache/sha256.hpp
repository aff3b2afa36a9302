#pragma once
/// SHA-256 (FIPS 180-4) for content addresses and manifests. Not for secrets: nothing here is constant time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cache {

class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits of everything given so far; ends the computation.
  std::string hex();

 private:
  void block(const unsigned char* data);

  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, 64> buffer_{};
  std::size_t buffered_ = 0;
  std::uint64_t total_ = 0;
};

std::string sha256_hex(std::string_view bytes);
/// Of \p parts, each preceded by its length, so that moving a boundary changes the digest.
std::string sha256_of_parts(const std::vector<std::string_view>& parts);
/// Throws CacheError when \p path cannot be read. Must not be used on a database that this process has open for
/// writing: closing any descriptor of a file drops SQLite's locks on it (POSIX).
std::string sha256_file(const std::filesystem::path& path);

}  // namespace tuner::cache
