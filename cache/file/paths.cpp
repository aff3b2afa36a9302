#include <cache/file/paths.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include <dlfcn.h>
#include <pwd.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cache/file/disk.hpp>

/// Defined by programs that include tuner's headers: tuner/problem.hpp.
extern "C" __attribute__((weak)) const char* tuner_installation_prefix();

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

/// A relative path starts at the current folder.
std::optional<fs::path> absolute_path(const char* variable) {
  const auto value = environment(variable);
  if (!value) return std::nullopt;
  std::error_code error;
  auto absolute = fs::absolute(*value, error);
  return error ? fs::path(*value) : absolute;
}

std::vector<fs::path> find_prefixes() {
  std::vector<fs::path> prefixes;
  const auto add = [&](fs::path prefix) {
    if (!prefix.empty() && std::find(prefixes.begin(), prefixes.end(), prefix) == prefixes.end()) {
      prefixes.push_back(std::move(prefix));
    }
  };
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  if (!error) add(program.parent_path().parent_path());
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&installation_prefixes), &library) != 0 && library.dli_fname != nullptr) {
    const auto file = fs::canonical(library.dli_fname, error);
    if (!error) add(file.parent_path().parent_path());
  }
  const char* const given = &tuner_installation_prefix != nullptr ? tuner_installation_prefix() : nullptr;
  if (given != nullptr) add(fs::path(given).lexically_normal());
  return prefixes;
}

}  // namespace

std::vector<fs::path> path_list(const char* variable, const char* otherwise) {
  std::vector<fs::path> parts;
  std::istringstream in(environment(variable).value_or(otherwise));
  for (std::string part; std::getline(in, part, ':');) {
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

std::optional<fs::path> user_cache_dir() {
  if (const auto dir = absolute_path("TUNER_CACHE_DIR")) return dir;
  if (const auto dir = environment("XDG_CACHE_HOME"); dir && fs::path(*dir).is_absolute())
    return fs::path(*dir) / "tuner";
  if (const auto home = environment("HOME")) return fs::path(*home) / ".cache" / "tuner";
  if (const passwd* user = getpwuid(geteuid()); user != nullptr && user->pw_dir != nullptr && *user->pw_dir == '/') {
    return fs::path(user->pw_dir) / ".cache" / "tuner";
  }
  return std::nullopt;
}

std::optional<fs::path> user_database_file() {
  const auto dir = user_cache_dir();
  if (!dir) return std::nullopt;
  return *dir / "wisdom.db";
}

std::optional<fs::path> frozen_database_file() { return absolute_path("TUNER_FROZEN"); }

const std::vector<fs::path>& installation_prefixes() {
  static const auto& prefixes = *new std::vector<fs::path>(find_prefixes());
  return prefixes;
}

std::vector<fs::path> shipped_places() {
  std::vector<fs::path> path = path_list("TUNER_DB_PATH");
  for (const auto& prefix : installation_prefixes()) path.push_back(prefix / "share" / "tuner" / "wisdom");
  for (auto& part : path_list("XDG_DATA_DIRS", "/usr/local/share:/usr/share")) {
    if (part.is_absolute()) path.push_back(part / "tuner" / "wisdom");
  }
  return path;
}

namespace {

/// The databases at \p place, a file or a folder of files, by name. \p unreadable: see shipped_database_files().
std::vector<fs::path> databases_at(const fs::path& place, std::string* unreadable) {
  std::error_code error;
  const fs::file_type type = fs::status(place, error).type();
  if (type == fs::file_type::regular) return {place};
  std::vector<fs::path> found;
  if (type == fs::file_type::directory)
    for (const Disk::Entry& entry : real_disk().list(place))
      if (entry.path.extension() == ".db") found.push_back(entry.path);
  std::sort(found.begin(), found.end());
  if (type == fs::file_type::directory && found.empty()) (void)fs::directory_iterator(place, error);
  const bool is_there = type != fs::file_type::not_found;
  if (is_there && error && unreadable != nullptr) *unreadable = place.string() + " cannot be read: " + error.message();
  return found;
}

}  // namespace

std::vector<fs::path> shipped_database_files(std::string* unreadable) {
  std::vector<fs::path> files;
  for (const fs::path& place : shipped_places())
    for (const fs::path& file : databases_at(place, unreadable)) {
      std::error_code error;
      auto canonical = fs::canonical(file, error);
      if (error) canonical = file;
      if (std::find(files.begin(), files.end(), canonical) == files.end()) files.push_back(canonical);
    }
  return files;
}

std::vector<fs::path> useless_places() {
  std::vector<fs::path> places = path_list("TUNER_DB_PATH");
  std::error_code error;
  std::erase_if(places, [&](const fs::path& place) {
    std::string unreadable;
    return !databases_at(place, &unreadable).empty() || !unreadable.empty() ||
           fs::is_directory(place / "images", error);
  });
  return places;
}

bool on_network_file_system(const fs::path& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return false;
  // Magic numbers from linux/magic.h and statfs(2). In order: NFS, SMB, SMB2, CIFS, FUSE (may be anything, such as
  // sshfs), 9P; Lustre, GPFS, Ceph, BeeGFS, PanFS, AFS; kAFS, Coda, NCP, OCFS2, GFS2, VirtualBox.
  constexpr std::uint32_t network[] = {0x6969,     0x517B,     0xFE534D42, 0xFF534D42, 0x65735546, 0x01021997,
                                       0x0BD00BD0, 0x47504653, 0x00C36400, 0x19830326, 0xAAD7AAEA, 0x5346414F,
                                       0x6B414653, 0x73757245, 0x564C,     0x7461636F, 0x01161970, 0x786F4256};
  return std::find(std::begin(network), std::end(network), static_cast<std::uint32_t>(info.f_type)) !=
         std::end(network);
}

}  // namespace tuner::cache
