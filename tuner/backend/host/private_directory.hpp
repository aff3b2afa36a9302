#pragma once
/// A directory for this process alone (0700). It is removed with its contents when the object is destroyed, or when the
/// process exits.

#include <sys/types.h>

#include <filesystem>

#include <tuner/backend/host/descriptor.hpp>

namespace tuner::host {

/// A locked file in it shows that its process lives. The lock ends with the process, and processes of other process-id
/// namespaces see it. A killed process leaves its directory; the next process of this user removes it, if its lock is
/// free and its lock file has tuner's mark. A forked child does not remove directories of its parent.
class PrivateDirectory {
 public:
  /// Under $TMPDIR or /tmp. Throws Error.
  PrivateDirectory();
  ~PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

  /// Removes the directories in \p parent that killed processes left.
  static void remove_abandoned(const std::filesystem::path& parent);

 private:
  std::filesystem::path path_;
  pid_t owner_;
  Descriptor lock_;
};

}  // namespace tuner::host
