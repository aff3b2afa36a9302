#include <cache/paths.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::vector<fs::path> split(const std::string& list) {
  std::vector<fs::path> parts;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const auto end = std::min(list.find(':', begin), list.size());
    if (end > begin) parts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::optional<fs::path> user_cache_dir() {
  if (const auto dir = environment("TUNER_CACHE_DIR")) return fs::path(*dir);
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

std::vector<fs::path> shipped_search_path(const fs::path& application) {
  std::vector<fs::path> path;
  if (!application.empty()) path.push_back(application);
  if (const auto list = environment("TUNER_DB_PATH")) {
    for (auto& part : split(*list)) path.push_back(std::move(part));
  }
  std::error_code error;
  const auto executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) path.push_back(executable.parent_path().parent_path() / "share" / "tuner" / "wisdom");
#ifdef TUNER_INSTALL_DATADIR
  path.push_back(fs::path(TUNER_INSTALL_DATADIR) / "tuner" / "wisdom");
#endif
  for (auto& part : split(environment("XDG_DATA_DIRS").value_or("/usr/local/share:/usr/share"))) {
    if (part.is_absolute()) path.push_back(part / "tuner" / "wisdom");
  }
  return path;
}

std::vector<fs::path> shipped_database_files(const fs::path& application) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& file) {
    std::error_code error;
    auto canonical = fs::canonical(file, error);
    if (error) canonical = file;
    if (std::find(files.begin(), files.end(), canonical) == files.end()) files.push_back(canonical);
  };
  for (const auto& part : shipped_search_path(application)) {
    std::error_code error;
    if (fs::is_regular_file(part, error)) add(part);
    if (!fs::is_directory(part, error)) continue;
    std::vector<fs::path> found;
    for (auto entry = fs::directory_iterator(part, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      if (entry->path().extension() == ".db") found.push_back(entry->path());
    }
    std::sort(found.begin(), found.end());
    for (const auto& file : found) add(file);
  }
  return files;
}

bool make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return true;
  if (!make_private_folder(folder.parent_path())) return false;
  // Another process may have been faster.
  return ::mkdir(folder.c_str(), 0700) == 0 || fs::is_directory(folder, error);
}

bool on_network_file_system(const fs::path& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return false;
  // linux/magic.h and statfs(2), where they are named.
  constexpr std::uint32_t network[] = {
      0x6969,      // NFS
      0x517B,      // SMB
      0xFE534D42,  // SMB2
      0xFF534D42,  // CIFS
      0x65735546,  // FUSE: may be anything, sshfs for one
      0x01021997,  // 9P
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x00C36400,  // Ceph
      0x19830326,  // BeeGFS
      0xAAD7AAEA,  // PanFS
      0x5346414F,  // AFS
      0x6B414653,  // kAFS
      0x73757245,  // Coda
      0x564C,      // NCP
      0x7461636F,  // OCFS2
      0x01161970,  // GFS2
      0x786F4256,  // VirtualBox shared folders
  };
  return std::find(std::begin(network), std::end(network), static_cast<std::uint32_t>(info.f_type)) !=
         std::end(network);
}

}  // namespace tuner::cache
