#pragma once
/// The backend that every machine has: compiles kernel files with the system's C++ compiler against a small header
/// that gives CUDA C++ its meaning, and runs thread blocks as fibers on the CPU's cores. How it works: README.md here.

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
  /// Told what is not as its owner may think: a CXX that cannot be used, a cache folder of somebody else. Left out:
  /// standard error, each sentence once in a process.
  std::function<void(const std::string&)> warn;
  double compile_timeout_s = 60;
  /// Where compiled objects are kept; the folder `host-objects` is made in it. Left out: `$TUNER_CACHE_DIR`,
  /// `$XDG_CACHE_HOME/tuner`, `~/.cache/tuner`. An unwritable folder costs time, nothing else.
  std::optional<std::filesystem::path> cache_directory;
  bool cache_objects = true;
  std::uint64_t max_cache_bytes = std::uint64_t{256} << 20;  ///< oldest objects go first
  unsigned threads = 0;         ///< operating-system threads; 0: one for each core that this process may use
  std::size_t stack_bytes = 0;  ///< of one kernel thread; 0: 64 KiB, 256 KiB under a sanitizer
  /// Turn faults in kernels (SIGSEGV, SIGFPE, …) into a LaunchError instead of the end of this process. Installs
  /// signal handlers while a backend lives; without effect under a sanitizer, which reports them better.
  bool catch_faults = true;
};

/// Never fails for want of a compiler: that is a CompileError of each compile, which names what was tried.
/// Throws Error when threads or stacks cannot be had.
std::unique_ptr<Backend> make_host_backend(const HostOptions& options = {});

/// The device that such a backend has. Starts no threads; asks the compiler for its version.
Device host_device(const HostOptions& options = {});

/// Only the compiler, for processes that compile and never run.
std::unique_ptr<Compiler> make_host_compiler(const HostOptions& options = {});

}  // namespace tuner
