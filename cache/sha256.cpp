#include <cache/sha256.hpp>

#include <array>
#include <deque>
#include <mutex>

#include <sha2.h>  // of libmd

#include <cache/error.hpp>

namespace tuner::cache {

using Hex = std::array<char, SHA256_DIGEST_STRING_LENGTH>;

std::string sha256_hex(std::string_view bytes) {
  Hex text{};
  return SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), text.data());
}

std::string sha256_of_text(std::string_view text) {
  struct Known {
    std::string text, digest;
  };
  constexpr std::size_t kMost = 16, kMostBytes = std::size_t{1} << 20;
  if (text.size() > kMostBytes) return sha256_hex(text);
  static std::mutex& mutex = *new std::mutex;  // never destroyed: threads may use it while the process ends
  static std::deque<Known>& known = *new std::deque<Known>;
  {
    const std::lock_guard lock(mutex);
    for (const Known& one : known)
      if (one.text == text) return one.digest;
  }
  std::string digest = sha256_hex(text);
  const std::lock_guard lock(mutex);
  known.push_front({std::string(text), digest});
  if (known.size() > kMost) known.pop_back();
  return digest;
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
