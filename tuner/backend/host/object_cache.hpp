#pragma once
/// Compiled objects by content, in a folder that only its owner can write. An error only costs a compile.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/host/descriptor.hpp>

namespace tuner::host {

/// Objects are code that will run, so an object that another user may have written is not used. The folder and each are
/// opened once. Their owner is checked and their bytes are read through that descriptor.
class ObjectCache {
 public:
  /// The first store() makes \p directory (0700). \p warn receives the reason when nothing is kept there and the user
  /// can change that. The objects take at most \p max_bytes: those that were not used for the longest time are removed.
  explicit ObjectCache(std::filesystem::path directory, const std::function<void(const std::string&)>& warn = {},
                       std::uint64_t max_bytes = std::uint64_t{256} << 20);

  /// The object stored under \p key (hexadecimal). Checks its checksum and marks it as used.
  std::optional<std::vector<std::byte>> find(const std::string& key) const;
  /// Atomic: a reader finds the whole object or none. False when it could not be written.
  bool store(const std::string& key, const std::vector<std::byte>& object) const;

 private:
  Descriptor open_folder() const;
  void evict(int folder) const;

  std::filesystem::path directory_;
  std::uint64_t max_bytes_;
};

}  // namespace tuner::host
