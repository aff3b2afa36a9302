#pragma once
/// Replacing a broken database while other processes open it. Private to this room.

#include <cstdint>
#include <filesystem>
#include <utility>

namespace tuner::cache {

/// Device and inode; zeros for a file that is not there.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;
FileIdentity identity_of(const std::filesystem::path& file);

/// Locks the folder of a file between processes: LOCK_EX while a broken file is replaced, LOCK_SH while one is opened.
/// A connection to the replaced file would take the new one's journal for its own and roll it back. No lock file stays
/// behind. Where folders cannot be locked (some network file systems) the identity has to do.
class FolderLock {
 public:
  /// \p operation: of flock(2). Waits.
  FolderLock(const std::filesystem::path& folder, int operation);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// Renames \p file and its journals to `FILE.SUFFIX-TIME` and returns that; an empty path when what stands there is not
/// \p identity any more. This process must have closed it. Throws filesystem_error.
std::filesystem::path move_aside(const std::filesystem::path& file, const FileIdentity& identity, const char* suffix);

}  // namespace tuner::cache
