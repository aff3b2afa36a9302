#pragma once
/// Headers that a kernel's files include and nobody finds, such as a generated configuration or one for the host. Both
/// compilers try them as empty files. Often the kernel needs nothing of them.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/includes.hpp>
#include <tuner/core/named.hpp>

namespace tuner {

/// Starts the line of Image::log that names them.
inline constexpr std::string_view kMissingHeaders = "headers that were not found count as empty: ";

/// The header that the compiler of \p log did not find, as its directive names it. Empty if the errors are others.
inline std::string missing_header(std::string_view log) {
  struct Message {
    std::string_view before, after;
  };
  // NVRTC, g++, clang++
  constexpr Message messages[] = {{"cannot open source file \"", "\""},
                                  {"fatal error: ", ": No such file or directory"},
                                  {"fatal error: '", "' file not found"}};
  for (const Message& message : messages) {
    const std::size_t begin = log.find(message.before);
    if (begin == std::string_view::npos) continue;
    const std::string_view rest = log.substr(begin + message.before.size());
    const std::size_t end = rest.substr(0, rest.find('\n')).find(message.after);
    if (end != std::string_view::npos) return std::string(rest.substr(0, end));
  }
  return {};
}

/// Adds the header that \p log misses to \p missing. False if there is none, or an empty file cannot take its place:
/// one of \p includes may be it, which the compiler cannot tell from others.
inline bool add_missing_header(std::string_view log, const Includes& includes, std::vector<std::string>& missing) {
  constexpr std::size_t most = 64;
  std::string name = missing_header(log);
  if (name.empty() || name.front() == '/' || missing.size() == most ||
      std::find(missing.begin(), missing.end(), name) != missing.end())
    return false;
  const std::size_t after_dots = std::min(name.find_first_not_of("./"), name.size());
  const std::string end = '/' + name.substr(after_dots);
  if (std::any_of(includes.files.begin(), includes.files.end(),
                  [&](const IncludedFile& file) { return ('/' + file.path).ends_with(end); }))
    return false;
  missing.push_back(std::move(name));
  return true;
}

/// \p message of a compile with empty files in place of \p missing.
inline std::string without_headers(const std::vector<std::string>& missing, const std::string& message) {
  if (missing.empty()) return message;
  return message + " (" + listed(missing, ", ") +
         (missing.size() == 1 ? " was not found and counts" : " were not found and count") +
         " as empty: give the folder, as in 'include_path \"include\"')";
}

}  // namespace tuner
