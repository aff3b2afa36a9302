#include <tuner/session/data_hash.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <map>
#include <mutex>
#include <utility>

#include <cache/sha256.hpp>

#include <tuner/core/error.hpp>
#include <tuner/core/input_file.hpp>

namespace tuner {
namespace {

/// The facts that a file system keeps about a file and that change with it.
struct FileState {
  dev_t device{};
  ino_t inode{};
  off_t bytes{};
  std::int64_t modified_ns{}, changed_ns{};

  explicit FileState(const std::filesystem::path& file) {
    struct ::stat seen {};
    if (::stat(file.c_str(), &seen) != 0) return;
    const auto ns = [](const timespec& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec; };
    device = seen.st_dev;
    inode = seen.st_ino;
    bytes = seen.st_size;
    modified_ns = ns(seen.st_mtim);
    changed_ns = ns(seen.st_ctim);
  }
  bool operator==(const FileState&) const = default;

  /// Whether another change would show. The clocks of file systems have steps, some of two seconds.
  bool is_settled() const {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - 3) * std::int64_t{1'000'000'000} > std::max(modified_ns, changed_ns);
  }
};

/// The hashes of data files, which may be large: each is read once, until it changes. As in cache/sha256.cpp, nobody
/// waits for the lock.
class FileHashes {
 public:
  static FileHashes& instance() {
    static FileHashes& all = *new FileHashes;  // never destroyed: threads may use it while the process ends
    return all;
  }
  /// Throws Error.
  std::string of(const std::filesystem::path& file) {
    const FileState before(file);
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
      if (const auto at = known_.find(file); at != known_.end() && at->second.first == before) return at->second.second;
    require_input_file(file, kMaxDataFileBytes, "data file");
    std::string hash = cache::sha256_file(file);
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && before.is_settled() && FileState(file) == before)
      known_.insert_or_assign(file, std::pair(before, hash));
    return hash;
  }

 private:
  std::mutex mutex_;
  std::map<std::filesystem::path, std::pair<FileState, std::string>> known_;
};

}  // namespace

std::string hash_of_data(const std::filesystem::path& file) try {
  return FileHashes::instance().of(file);
} catch (const Error&) {
  return "unreadable";
}

}  // namespace tuner
