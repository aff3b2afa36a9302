#pragma once
/// Runs other programs, such as the compiler. Also a private directory for their files, and owners of descriptors.

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tuner::host {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }
  void reset() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

/// False when the descriptor takes no more; errno has the reason.
inline bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

/// A directory for this process alone (0700). It is removed with its contents when the object is destroyed, or when the
/// process exits. exit() removes for a few milliseconds at most, and leaves the rest as a killed process does.
///
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

struct ProcessOptions {
  double timeout_s = 0;                         ///< 0: none
  const std::atomic<bool>* stop = nullptr;      ///< the program is killed once this is set
  std::filesystem::path temporary_directory{};  ///< its TMPDIR; empty: this process's
  bool in_background = false;                   ///< it gives way to other processes
};

struct ProcessResult {
  int exit_code = -1;           ///< 128 + signal when a signal ended it
  bool timed_out = false;       ///< killed with its children at the time limit
  std::optional<double> cpu_s;  ///< the processor time of all of them, if known; only with timed_out

  bool stopped = false;  ///< they were killed because of ProcessOptions::stop

  std::string output;    ///< stdout and stderr, at most 1 MiB
  std::string error;     ///< the reason why it could not be started; empty otherwise
  bool passing = false;  ///< that reason is one of the moment (core/values/passing.hpp)
};

/// Runs a program to its end without a shell and collects its output, in English: LC_ALL is C. The program and its
/// children end with the call at the latest, or with this process, even if that is killed. \p arguments: the program
/// (looked up on the PATH) and its arguments.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options);

}  // namespace tuner::host
