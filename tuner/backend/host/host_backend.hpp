#pragma once
/// The backend that every machine has. It compiles kernel files with the system's C++ compiler against a small header
/// that gives CUDA C++ its meaning. It runs thread blocks as fibers on the CPU's cores. README.md here has the details.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <tuner/backend/backend.hpp>

namespace tuner {

struct HostOptions {
  /// The C++ compiler, a name or a path. Empty: `$CXX` (which may have arguments: `ccache g++`), then c++, g++, clang++
  /// on the PATH.
  std::string compiler;
  /// Receives warnings for the user: CXX cannot be used, or the cache folder belongs to another user. Default: standard
  /// error, each sentence once in a process.
  Warn warn;
  double compile_timeout_s = 60;
  /// The folder that has, or gets, the folder `images/host` for compiled objects. Default: `$TUNER_CACHE_DIR`,
  /// `$XDG_CACHE_HOME/tuner`, `~/.cache/tuner`. If it cannot be written, only time is lost.
  std::optional<std::filesystem::path> cache_directory;
  bool cache_objects = true;
  unsigned threads = 0;  ///< operating-system threads; 0: one for each core that this process may use
};

/// Does not fail if there is no compiler: then each compile is a CompileError that names the compilers that were tried.
/// Throws Error when threads or stacks cannot be made. While the backend lives, signal handlers turn faults in kernels
/// (SIGSEGV, SIGFPE, …) into a LaunchError.
std::unique_ptr<Backend> make_host_backend(const HostOptions& options = {});

/// The device of such a backend. Starts no threads; asks the compiler for its version.
Device host_device(const HostOptions& options = {});

/// Only the compiler, for processes that compile and never run.
std::unique_ptr<Compiler> make_host_compiler(const HostOptions& options = {});

}  // namespace tuner
