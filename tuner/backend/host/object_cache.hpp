#pragma once
/// Compiled objects by content, in a folder of its owner's alone. Never needed: whatever goes wrong costs a compile.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/host/descriptor.hpp>

namespace tuner::host {

/// Code that is run is taken from a folder only when nobody else can have written it: the folder and each object are
/// opened once, looked at and read through that descriptor.
class ObjectCache {
 public:
  /// \p directory is made (0700) with the first store(). The objects in it take at most \p max_bytes. \p warn is told
  /// why nothing is kept there, where that is for its owner to mend.
  ObjectCache(std::filesystem::path directory, std::uint64_t max_bytes,
              const std::function<void(const std::string&)>& warn = {});

  /// The object stored under \p key (hexadecimal), checked against its own checksum, and marked as used.
  std::optional<std::vector<std::byte>> find(const std::string& key) const;
  /// Atomic: a reader sees all of it or nothing. False when it could not be written.
  bool store(const std::string& key, const std::vector<std::byte>& object) const;

 private:
  Descriptor open_folder() const;
  void evict(int folder) const;

  std::filesystem::path directory_;
  std::uint64_t max_bytes_;
};

}  // namespace tuner::host
