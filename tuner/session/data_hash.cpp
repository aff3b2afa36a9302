#include <tuner/session/data_hash.hpp>

#include <map>
#include <mutex>
#include <utility>

#include <cache/disk.hpp>
#include <cache/sha256.hpp>

#include <tuner/core/error.hpp>
#include <tuner/core/input_file.hpp>

namespace tuner {
namespace {

cache::FileStamp stamp_of(const std::filesystem::path& file) { return cache::real_disk().stamp_of(file); }

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
    const cache::FileStamp before = stamp_of(file);
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
      if (const auto at = known_.find(file); at != known_.end() && at->second.first == before) return at->second.second;
    require_input_file(file, kMaxDataFileBytes, "data file");
    std::string hash = cache::sha256_file(file);
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && before.is_settled() && stamp_of(file) == before)
      known_.insert_or_assign(file, std::pair(before, hash));
    return hash;
  }

 private:
  std::mutex mutex_;
  std::map<std::filesystem::path, std::pair<cache::FileStamp, std::string>> known_;
};

}  // namespace

std::string hash_of_data(const std::filesystem::path& file) try {
  return FileHashes::instance().of(file);
} catch (const Error&) {
  return "unreadable";
}

}  // namespace tuner
