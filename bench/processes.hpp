#pragma once
/// Other processes that a bench program starts, and the folder that they share with it.

#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <tuner/error.hpp>

namespace bench {

/// A new folder of this process, which is removed with all that is in it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& program, bool keep = false) : keep_(keep) {
    std::string name = (std::filesystem::temp_directory_path() / ("tuner-" + program + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) throw tuner::Error("no folder can be made as " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool keep_;
};

inline std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

/// The standard output of \p line in a shell. Throws tuner::Error unless it ends with status 0.
inline std::string output_of(const std::string& line) {
  FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw tuner::Error("cannot start " + line);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw tuner::Error("this failed: " + line);
  return text;
}

/// The same for a program and its arguments.
inline std::string output_of(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "' ";
  }
  return output_of(line);
}

}  // namespace bench
