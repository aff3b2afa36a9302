#pragma once
/// Runs a program to its end without a shell and collects its output, in English: LC_ALL is C. The program and its
/// children end with the call at the latest, or with this process, even if that is killed.

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::host {

struct ProcessOptions {
  double timeout_s = 0;                         ///< 0: none
  const std::atomic<bool>* stop = nullptr;      ///< the program is killed once this is set
  std::filesystem::path temporary_directory{};  ///< its TMPDIR; empty: this process's
};

struct ProcessResult {
  int exit_code = -1;           ///< 128 + signal when a signal ended it
  bool timed_out = false;       ///< it and its children were killed at the time limit
  std::optional<double> cpu_s;  ///< the processor time of all of them until then, if it is known; only with timed_out
  bool stopped = false;         ///< they were killed because of ProcessOptions::stop

  std::string output;  ///< stdout and stderr, at most 1 MiB
  std::string error;   ///< the reason why it could not be started; empty otherwise
};

/// \p arguments: the program (looked up on the PATH) and its arguments.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options);

/// The path of \p program, which is looked up on $PATH unless it has a slash. Empty when it cannot be executed.
std::filesystem::path find_program(const std::string& program);

}  // namespace tuner::host
