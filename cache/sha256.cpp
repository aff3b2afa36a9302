#include <cache/sha256.hpp>

#include <array>
#include <deque>
#include <mutex>
#include <utility>

#include <sha2.h>  // of libmd
#include <zlib.h>

#include <cache/error.hpp>

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

/// The digests of the last few texts, the newest first.
class KnownDigests {
 public:
  static KnownDigests& instance() {
    static KnownDigests& all = *new KnownDigests;  // never destroyed: threads may use it while the process ends
    return all;
  }
  std::string find(std::string_view text) {
    const std::lock_guard lock(mutex_);
    for (const Known& one : known_)
      if (one.text == text) return one.digest;
    return {};
  }
  void add(std::string_view text, std::string digest) {
    const std::lock_guard lock(mutex_);
    insert(text, std::move(digest));
  }
  /// Does nothing if the lock is taken. In a forked child, a thread of the parent may hold it for ever.
  void add_new(std::string_view text, std::string_view digest) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    for (const Known& one : known_)
      if (one.text == text) return;
    insert(text, std::string(digest));
  }

 private:
  void insert(std::string_view text, std::string digest) {
    known_.push_front({std::string(text), std::move(digest)});
    if (known_.size() > 16) known_.pop_back();
  }

  struct Known {
    std::string text, digest;
  };
  std::mutex mutex_;
  std::deque<Known> known_;
};

}  // namespace

std::string sha256_of_text(std::string_view text) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  if (text.size() > kMostBytes) return sha256_hex(text);
  std::string digest = KnownDigests::instance().find(text);
  if (digest.empty()) KnownDigests::instance().add(text, digest = sha256_hex(text));
  return digest;
}

void remember_sha256(std::string_view text, std::string_view digest) { KnownDigests::instance().add_new(text, digest); }

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
