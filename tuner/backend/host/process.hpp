#pragma once
/// Runs a program to its end without a shell, in a process group of its own, and collects what it says.

#include <filesystem>
#include <string>
#include <vector>

namespace tuner::host {

struct ProcessResult {
  int exit_code = -1;      ///< 128 + signal when a signal ended it
  bool timed_out = false;  ///< it and its children were killed
  std::string output;      ///< stdout and stderr, at most 1 MiB
  std::string error;       ///< why it could not be started; empty otherwise
};

/// \p arguments: the program (looked up on the PATH) and its arguments. \p timeout_s: 0 for none.
ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_s);

/// The path of \p program: itself when it has a slash and can be executed, else found on $PATH; empty when absent.
std::filesystem::path find_program(const std::string& program);

/// A directory for this process alone (0700), removed with all that is in it. Ones left by processes that died are
/// removed when the next is made.
class PrivateDirectory {
 public:
  /// Under $TMPDIR or /tmp. Throws Error.
  PrivateDirectory();
  ~PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tuner::host
