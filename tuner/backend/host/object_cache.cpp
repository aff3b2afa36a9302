#include <tuner/backend/host/object_cache.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include <cache/sha256.hpp>
#include <tuner/backend/host/write_all.hpp>

namespace tuner::host {
namespace {

constexpr std::size_t kChecksumBytes = 64;  // SHA-256 in hexadecimal, before the object

std::string checksum(const std::byte* data, std::size_t bytes) {
  return cache::sha256_hex({reinterpret_cast<const char*>(data), bytes});
}

// A folder of another user, or one that others may write to, must not be trusted with code to run.
bool is_private(const std::filesystem::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

ObjectCache::ObjectCache(std::filesystem::path directory, std::uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

std::optional<std::vector<std::byte>> ObjectCache::find(const std::string& key) const {
  if (!is_private(directory_)) return std::nullopt;
  const std::filesystem::path path = directory_ / (key + ".so");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  const std::streamoff size = file.tellg();
  if (size <= static_cast<std::streamoff>(kChecksumBytes)) return std::nullopt;
  std::vector<std::byte> content(static_cast<std::size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(content.data()), size)) return std::nullopt;
  const std::string stored(reinterpret_cast<const char*>(content.data()), kChecksumBytes);
  content.erase(content.begin(), content.begin() + kChecksumBytes);
  if (checksum(content.data(), content.size()) != stored) {
    unlink(path.c_str());
    return std::nullopt;
  }
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return content;
}

bool ObjectCache::store(const std::string& key, const std::vector<std::byte>& object) const {
  std::error_code error;
  std::filesystem::create_directories(directory_.parent_path(), error);
  mkdir(directory_.c_str(), 0700);
  if (!is_private(directory_)) return false;
  std::string temporary = (directory_ / (key + ".XXXXXX")).string();
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return false;
  const std::string sum = checksum(object.data(), object.size());
  const bool written = write_all(descriptor, std::as_bytes(std::span(sum))) && write_all(descriptor, object);
  if ((close(descriptor) != 0) | !written || rename(temporary.c_str(), (directory_ / (key + ".so")).c_str()) != 0) {
    unlink(temporary.c_str());
    return false;
  }
  evict();
  return true;
}

void ObjectCache::evict() const {
  struct Entry {
    std::filesystem::file_time_type used;
    std::uint64_t bytes;
    std::filesystem::path path;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const std::uint64_t bytes = it->file_size(gone);
    if (gone) continue;
    entries.push_back({it->last_write_time(gone), bytes, it->path()});
    total += bytes;
  }
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes_) return;
    if (unlink(entry.path.c_str()) == 0) total -= entry.bytes;
  }
}

std::optional<std::filesystem::path> cache_directory(const std::optional<std::filesystem::path>& chosen) {
  if (chosen) return chosen;
  const auto variable = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (const auto own = variable("TUNER_CACHE_DIR"); !own.empty()) return std::filesystem::path(own);
  if (const auto xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return std::filesystem::path(xdg) / "tuner";
  if (const auto home = variable("HOME"); !home.empty()) return std::filesystem::path(home) / ".cache" / "tuner";
  return std::nullopt;
}

}  // namespace tuner::host
