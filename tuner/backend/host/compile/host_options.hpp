#pragma once
/// The settings of the host backend.

#include <filesystem>
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

}  // namespace tuner
