#include <tuner/core/values/available_memory.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace tuner {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;  // "max": no limit
}

/// The number after \p name, which begins a line of the file \p path.
std::optional<std::uint64_t> number_after(const fs::path& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    std::uint64_t number = 0;
    if (word == name && file >> number) return number;
  }
  return std::nullopt;
}

/// The bytes that the group in \p folder may still take. Pages of files that were not used lately are given back for
/// the asking.
std::uint64_t left_in(const fs::path& folder, const char* limit, const char* usage) {
  const std::optional<std::uint64_t> most = number_in(folder / limit);
  if (!most) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t used = number_in(folder / usage).value_or(0);
  const std::uint64_t reclaimed = number_after(folder / "memory.stat", "inactive_file").value_or(0);
  const std::uint64_t taken = used - std::min(used, reclaimed);
  return *most - std::min(*most, taken);
}

}  // namespace

std::uint64_t available_memory(const fs::path& root) {
  const std::optional<std::uint64_t> kib = number_after(root / "proc/meminfo", "MemAvailable:");
  if (!kib) return 0;
  std::uint64_t left = *kib << 10;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // 0::/PATH, and in version 1 NUMBER:CONTROLLERS:/PATH
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const bool is_second = controllers == ",,";
    if (!is_second && controllers.find(",memory,") == std::string::npos) continue;
    const fs::path top = root / (is_second ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    // Each group above it limits it too. In a container the path may be that of another root: then only `top` is there.
    for (fs::path at = fs::path(line.substr(second + 1)).relative_path();; at = at.parent_path()) {
      left = std::min(left, is_second ? left_in(top / at, "memory.max", "memory.current")
                                      : left_in(top / at, "memory.limit_in_bytes", "memory.usage_in_bytes"));
      if (at.empty()) break;
    }
  }
  return left;
}

}  // namespace tuner
