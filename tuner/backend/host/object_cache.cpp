#include <tuner/backend/host/object_cache.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>

#include <cache/paths.hpp>
#include <cache/sha256.hpp>

namespace tuner::host {
namespace {

constexpr std::size_t kChecksumBytes = 64;  // SHA-256 in hexadecimal, before the object
constexpr off_t kMostBytes = off_t{1} << 30;

std::string checksum(const std::byte* data, std::size_t bytes) {
  return cache::sha256_hex({reinterpret_cast<const char*>(data), bytes});
}

/// The reason why code from the file or folder of \p descriptor must not be run; empty when it may be.
std::string distrust(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return "cannot be examined";
  if (status.st_uid != geteuid()) return "belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "may be written to by others";
  return {};
}

std::string object_name(const std::string& key) { return key + ".so"; }

}  // namespace

ObjectCache::ObjectCache(std::filesystem::path directory, const std::function<void(const std::string&)>& warn,
                         std::uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {
  const Descriptor folder(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && errno == ENOENT) return;
  const std::string why = folder ? distrust(folder.get()) : errno == EACCES ? "cannot be opened" : "is no folder";
  if (!why.empty() && warn) {
    warn("compiled objects are not kept, because " + directory_.string() + ' ' + why +
         "; remove it, or set TUNER_CACHE_DIR to a folder of your own");
  }
}

Descriptor ObjectCache::open_folder() const {
  Descriptor folder(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder && !distrust(folder.get()).empty()) return Descriptor();
  return folder;
}

std::optional<std::vector<std::byte>> ObjectCache::find(const std::string& key) const {
  const Descriptor folder = open_folder();
  if (!folder) return std::nullopt;
  const std::string name = object_name(key);
  // O_NONBLOCK, because opening a pipe would wait for its writer.
  const Descriptor file(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || !distrust(file.get()).empty() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size <= static_cast<off_t>(kChecksumBytes) || status.st_size > kMostBytes) {
    return std::nullopt;
  }
  std::vector<std::byte> content(static_cast<std::size_t>(status.st_size));
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t count = read(file.get(), content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  const std::string stored(reinterpret_cast<const char*>(content.data()), kChecksumBytes);
  content.erase(content.begin(), content.begin() + kChecksumBytes);
  if (checksum(content.data(), content.size()) != stored) {
    unlinkat(folder.get(), name.c_str(), 0);
    return std::nullopt;
  }
  futimens(file.get(), nullptr);
  return content;
}

bool ObjectCache::store(const std::string& key, const std::vector<std::byte>& object) const {
  if (!cache::make_private_folder(directory_)) return false;
  const Descriptor folder = open_folder();
  if (!folder) return false;
  // Each writer has its own name, so that two can store the same object at the same time.
  char temporary[64];
  std::snprintf(temporary, sizeof temporary, "%.16s.%ld.%p", key.c_str(), static_cast<long>(getpid()),
                static_cast<const void*>(&object));
  Descriptor file(openat(folder.get(), temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return false;
  const std::string sum = checksum(object.data(), object.size());
  const bool written =
      write_all(file.get(), std::as_bytes(std::span(sum))) && write_all(file.get(), object) && file.reset();
  if (!written || renameat(folder.get(), temporary, folder.get(), object_name(key).c_str()) != 0) {
    unlinkat(folder.get(), temporary, 0);
    return false;
  }
  evict(folder.get());
  return true;
}

void ObjectCache::evict(int folder) const {
  struct Entry {
    timespec used;
    std::uint64_t bytes;
    std::string name;
  };
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> files(again >= 0 ? fdopendir(again) : nullptr, &closedir);
  if (!files) return;
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  while (const dirent* entry = readdir(files.get())) {
    struct stat status {};
    if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
    entries.push_back({status.st_mtim, static_cast<std::uint64_t>(status.st_size), entry->d_name});
    total += entries.back().bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= max_bytes_) return;
    if (unlinkat(folder, entry.name.c_str(), 0) == 0) total -= entry.bytes;
  }
}

}  // namespace tuner::host
