#include <tuner/backend/cuda/profiling_permission.hpp>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>

namespace tuner::cuda {
namespace {

/// The rest of the first line that begins with \p key, without leading blanks; empty if there is none.
std::string_view value_of_line(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.substr(0, key.size()) == key) {
      const std::size_t at = line.find_first_not_of(" \t", key.size());
      return at == std::string_view::npos ? std::string_view() : line.substr(at);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

std::string text_of_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string permission_cure() {
  return "run as root, or with the capability CAP_SYS_ADMIN (CAP_PERFMON is enough from driver R565 on), or have an "
         "administrator load the module nvidia with NVreg_RestrictProfilingToAdminUsers=0";
}

bool only_for_administrators(std::string_view driver_parameters) {
  return value_of_line(driver_parameters, "RmProfilingAdminOnly:") == "1";
}

bool is_administrator(std::string_view status) {
  const std::string_view text = value_of_line(status, "CapEff:");
  std::uint64_t capabilities = 0;
  std::from_chars(text.data(), text.data() + text.size(), capabilities, 16);
  constexpr int sys_admin = 21, perfmon = 38;  // linux/capability.h
  return (capabilities >> sys_admin & 1) != 0 || (capabilities >> perfmon & 1) != 0;
}

std::string why_not_permitted() {
  if (!only_for_administrators(text_of_file("/proc/driver/nvidia/params"))) return {};
  if (is_administrator(text_of_file("/proc/self/status"))) return {};
  return "the driver lets only administrators read hardware counters (RmProfilingAdminOnly is 1): " + permission_cure();
}

}  // namespace tuner::cuda
