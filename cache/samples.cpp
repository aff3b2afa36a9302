#include <cache/samples.hpp>

#include <bit>
#include <cstdint>

#include <zlib.h>

namespace tuner::cache {
namespace {

constexpr char kVersion = 1;
constexpr std::size_t kMaxSamples = std::size_t{1} << 24;
constexpr std::size_t kHeader = 5;

}  // namespace

std::string pack_samples(const std::vector<double>& samples) {
  if (samples.empty()) return {};
  const auto count = std::min(samples.size(), kMaxSamples);
  std::string planes(count * 8, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(samples[i]);
    for (std::size_t byte = 0; byte < 8; ++byte) planes[byte * count + i] = static_cast<char>(bits >> (8 * byte));
  }
  uLongf size = compressBound(planes.size());
  std::string blob(kHeader + size, '\0');
  blob[0] = kVersion;
  for (int byte = 0; byte < 4; ++byte) blob[1 + byte] = static_cast<char>(count >> (8 * byte));
  compress2(reinterpret_cast<Bytef*>(blob.data() + kHeader), &size, reinterpret_cast<const Bytef*>(planes.data()),
            planes.size(), 1);
  blob.resize(kHeader + size);
  return blob;
}

std::optional<std::vector<double>> unpack_samples(std::string_view blob) {
  if (blob.empty()) return std::vector<double>{};
  if (blob.size() < kHeader || blob[0] != kVersion) return std::nullopt;
  std::size_t count = 0;
  for (int byte = 0; byte < 4; ++byte) {
    count |= static_cast<std::size_t>(static_cast<unsigned char>(blob[1 + byte])) << (8 * byte);
  }
  // deflate shrinks at most about 1032 times: a count beyond that is damage, not data worth allocating for.
  if (count == 0 || count > kMaxSamples || count * 8 > (blob.size() - kHeader) * 1100) return std::nullopt;
  std::string planes(count * 8, '\0');
  uLongf size = planes.size();
  if (uncompress(reinterpret_cast<Bytef*>(planes.data()), &size, reinterpret_cast<const Bytef*>(blob.data() + kHeader),
                 blob.size() - kHeader) != Z_OK ||
      size != planes.size()) {
    return std::nullopt;
  }
  std::vector<double> samples(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) {
      bits |= std::uint64_t{static_cast<unsigned char>(planes[byte * count + i])} << (8 * byte);
    }
    samples[i] = std::bit_cast<double>(bits);
  }
  return samples;
}

}  // namespace tuner::cache
