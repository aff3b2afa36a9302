#include <cache/sha256.hpp>

#include <array>
#include <fstream>

#include <sha2.h>  // of libmd

#include <cache/error.hpp>

namespace tuner::cache {
namespace {

class Sha256 {
 public:
  Sha256() { SHA256Init(&state_); }
  void update(std::string_view bytes) {
    SHA256Update(&state_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::string hex() {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
    return SHA256End(&state_, text.data());
  }

 private:
  SHA2_CTX state_;
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256_of_parts(const std::vector<std::string_view>& parts) {
  Sha256 hash;
  for (const std::string_view part : parts) {
    hash.update(std::to_string(part.size()) + ':');
    hash.update(part);
  }
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw CacheError(path.string() + ": cannot be read");
  Sha256 hash;
  std::string buffer(std::size_t{1} << 16, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    hash.update({buffer.data(), static_cast<std::size_t>(in.gcount())});
  }
  if (in.bad()) throw CacheError(path.string() + ": cannot be read to its end");
  return hash.hex();
}

}  // namespace tuner::cache
