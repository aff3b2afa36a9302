#include <cache/sha256.hpp>

#include <array>

#include <sha2.h>  // of libmd

#include <cache/error.hpp>

namespace tuner::cache {

using Hex = std::array<char, SHA256_DIGEST_STRING_LENGTH>;

std::string sha256_hex(std::string_view bytes) {
  Hex text{};
  return SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), text.data());
}

std::string sha256_of_parts(const std::vector<std::string_view>& parts) {
  std::string all;
  for (const std::string_view part : parts) all.append(std::to_string(part.size())).append(":").append(part);
  return sha256_hex(all);
}

std::string sha256_file(const std::filesystem::path& path) {
  Hex text{};
  if (SHA256File(path.c_str(), text.data()) == nullptr) throw CacheError(path.string() + ": cannot be read");
  return text.data();
}

}  // namespace tuner::cache
