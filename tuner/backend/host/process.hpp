#pragma once
/// Runs a program to its end without a shell and collects what it says. Neither it nor what it starts outlives the
/// call, nor this process, whatever ends it.

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace tuner::host {

struct ProcessOptions {
  double timeout_s = 0;                         ///< 0: none
  const std::atomic<bool>* stop = nullptr;      ///< once set the program is killed
  std::filesystem::path temporary_directory{};  ///< its TMPDIR; empty: this process's
};

struct ProcessResult {
  int exit_code = -1;      ///< 128 + signal when a signal ended it
  bool timed_out = false;  ///< it and its children were killed
  bool stopped = false;    ///< the same, because of ProcessOptions::stop
  std::string output;      ///< stdout and stderr, at most 1 MiB
  std::string error;       ///< why it could not be started; empty otherwise
};

/// \p arguments: the program (looked up on the PATH) and its arguments.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options);

/// The path of \p program: itself when it has a slash and can be executed, else found on $PATH; empty when absent.
std::filesystem::path find_program(const std::string& program);

}  // namespace tuner::host
