#include <cache/records/sha256.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>

#include <sha2.h>  // of libmd
#include <zlib.h>

#include <cache/records/cache_error.hpp>

namespace tuner::cache {

using Hex = std::array<char, SHA256_DIGEST_STRING_LENGTH>;

std::string sha256_hex(std::string_view bytes) {
  Hex text{};
  return SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), text.data());
}

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  // crc32_z takes lengths above 32 bits, crc32() does not.
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

namespace {

struct KnownDigest {
  PartOfText part;
  std::string text, digest;
};

/// Calls \p use with the digests of the last few texts, the newest first. Nobody waits for them: in a forked child, a
/// thread of the parent may hold the lock for ever. While another thread is here, \p use is not called.
void with_known_digests(const std::function<void(std::deque<KnownDigest>&)>& use) {
  static auto& mutex = *new std::mutex;  // never destroyed: threads may use it while the process ends
  static auto& known = *new std::deque<KnownDigest>;
  if (const std::unique_lock lock(mutex, std::try_to_lock); lock) use(known);
}

}  // namespace

std::string sha256_of_text(std::string_view text, PartOfText part) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const auto made = [&] { return part == nullptr ? sha256_hex(text) : sha256_hex(part(text)); };
  if (text.size() > kMostBytes) return made();
  std::string digest;
  with_known_digests([&](const auto& known) {
    for (const KnownDigest& one : known)
      if (one.part == part && one.text == text) digest = one.digest;
  });
  if (digest.empty()) remember_sha256(text, digest = made(), part);
  return digest;
}

void remember_sha256(std::string_view text, std::string_view digest, PartOfText part) {
  with_known_digests([&](auto& known) {
    for (const KnownDigest& one : known)
      if (one.part == part && one.text == text) return;
    known.push_front({part, std::string(text), std::string(digest)});
    if (known.size() > 16) known.pop_back();
  });
}

std::string sha256_of_parts(const std::vector<std::string_view>& parts) {
  std::string all;
  for (const std::string_view part : parts) all.append(std::to_string(part.size())).append(":").append(part);
  return sha256_hex(all);
}

std::string sha256_file(const std::filesystem::path& path) {
  constexpr std::chrono::seconds kMostTime{600};
  const auto start = std::chrono::steady_clock::now();
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20);
  SHA2_CTX state;
  SHA256Init(&state);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    SHA256Update(&state, reinterpret_cast<const std::uint8_t*>(piece.data()), static_cast<std::size_t>(file.gcount()));
    if (std::chrono::steady_clock::now() - start > kMostTime)
      throw CacheError(path.string() + ": reading it takes more than 10 minutes");
  }
  if (!file.eof()) throw CacheError(path.string() + ": cannot be read");
  Hex text{};
  return SHA256End(&state, text.data());
}

}  // namespace tuner::cache
