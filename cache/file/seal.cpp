#include <cache/file/seal.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace tuner::cache {
namespace {

struct Seal {
  std::uint64_t mark = 0x336c6165'73656e75;  // "uneseal3"
  std::uint64_t bytes = 0;                   ///< of the database
  std::uint64_t hash = 0;                    ///< of these bytes
};

/// Hashes four words at a time, each in its own lane. A change of one word always changes the hash.
std::uint64_t hash_of(std::string_view bytes) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), sizeof lanes))) {
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), bytes.data(), std::min(bytes.size(), sizeof words));
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = std::rotl(lanes[i] ^ words[i], 29) * odd;
  }
  std::uint64_t all = 0;
  for (const std::uint64_t lane : lanes) all = std::rotl(all ^ lane, 31) * odd;
  return all;
}

}  // namespace

std::string seal_of(std::string_view bytes) {
  const Seal seal{.bytes = bytes.size(), .hash = hash_of(bytes)};
  return {reinterpret_cast<const char*>(&seal), sizeof seal};
}

std::optional<std::string_view> unsealed(std::string_view file) {
  if (file.size() <= sizeof(Seal)) return std::nullopt;
  const std::string_view database = file.substr(0, file.size() - sizeof(Seal));
  return file.substr(database.size()) == seal_of(database) ? std::optional(database) : std::nullopt;
}

}  // namespace tuner::cache
