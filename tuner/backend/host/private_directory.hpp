#pragma once
/// A directory for this process alone (0700), removed with all that is in it: when its owner goes, at the latest when
/// the process exits.

#include <sys/types.h>

#include <filesystem>

#include <tuner/backend/host/descriptor.hpp>

namespace tuner::host {

/// The lock on a file in it is the sign of life: it is seen from other process-id namespaces and ends with the process.
/// Directories left by processes that were killed are removed when the next is made: those of this user whose lock is
/// free and whose lock file says that it is ours. A forked child leaves those of its parent alone.
class PrivateDirectory {
 public:
  /// Under $TMPDIR or /tmp. Throws Error.
  PrivateDirectory();
  ~PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

  /// Removes what was left under \p parent.
  static void remove_abandoned(const std::filesystem::path& parent);

 private:
  std::filesystem::path path_;
  pid_t owner_;
  Descriptor lock_;
};

}  // namespace tuner::host
