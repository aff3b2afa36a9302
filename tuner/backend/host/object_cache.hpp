#pragma once
/// Compiled objects by content, in a folder of its owner's alone. Never needed: whatever goes wrong costs a compile.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::host {

class ObjectCache {
 public:
  /// \p directory is made (0700) with the first store(). The objects in it take at most \p max_bytes.
  ObjectCache(std::filesystem::path directory, std::uint64_t max_bytes);

  /// The object stored under \p key (hexadecimal), checked against its own checksum, and marked as used.
  std::optional<std::vector<std::byte>> find(const std::string& key) const;
  /// Atomic: a reader sees all of it or nothing. False when it could not be written.
  bool store(const std::string& key, const std::vector<std::byte>& object) const;

 private:
  void evict() const;

  std::filesystem::path directory_;
  std::uint64_t max_bytes_;
};

/// The folder for caches: \p chosen, `$TUNER_CACHE_DIR`, `$XDG_CACHE_HOME/tuner` or `~/.cache/tuner`; nothing when
/// there is no home either.
std::optional<std::filesystem::path> cache_directory(const std::optional<std::filesystem::path>& chosen);

}  // namespace tuner::host
