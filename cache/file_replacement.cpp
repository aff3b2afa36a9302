#include <cache/file_replacement.hpp>

#include <ctime>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tuner::cache {
namespace fs = std::filesystem;

FileIdentity identity_of(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

FolderLock::FolderLock(const fs::path& folder, int operation)
    : descriptor_(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ >= 0) (void)::flock(descriptor_, operation);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

fs::path move_aside(const fs::path& file, const FileIdentity& identity, const char* suffix) {
  const FolderLock lock(file.parent_path(), LOCK_EX);
  if (identity_of(file) != identity) return {};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  fs::path target = fmt::format("{}.{}-{}", file.string(), suffix, stamp);
  std::error_code error;
  for (int i = 1; fs::exists(target, error); ++i) target = fmt::format("{}.{}-{}-{}", file.string(), suffix, stamp, i);
  // The journals go first and along: left behind, they would be applied to the new file.
  for (const char* side : {"-journal", "-wal", "-shm"}) {
    const fs::path from = file.string() + side;
    if (fs::exists(from, error)) fs::rename(from, target.string() + side);
  }
  fs::rename(file, target);
  return target;
}

}  // namespace tuner::cache
