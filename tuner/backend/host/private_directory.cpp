#include <tuner/backend/host/private_directory.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include <tuner/core/error.hpp>

namespace tuner::host {
namespace {

constexpr std::string_view kPrefix = "tuner-host-";
constexpr const char* kLock = "tuner.lock";
constexpr std::string_view kMark = "tuner: a folder of one process; it may be removed while nobody locks this file\n";

std::filesystem::path temporary_directory() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : path;
}

bool is_of_this_user(int descriptor, mode_t type) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == type && status.st_uid == geteuid();
}

/// The lock file, now locked, if the directory \p path is abandoned; nothing if that is not certain.
Descriptor lock_if_abandoned(const std::filesystem::path& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory || !is_of_this_user(directory.get(), S_IFDIR)) return Descriptor();
  Descriptor lock(openat(directory.get(), kLock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!lock || !is_of_this_user(lock.get(), S_IFREG)) return Descriptor();
  char text[kMark.size() + 1];
  if (read(lock.get(), text, sizeof text) != static_cast<ssize_t>(kMark.size())) return Descriptor();
  if (std::string_view(text, kMark.size()) != kMark || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return Descriptor();
  return lock;
}

/// Removes \p path, and its lock last: if this process ends before that, others can still tell that it is abandoned.
/// A later process removes what is left.
void remove_folder(const std::filesystem::path& path) noexcept try {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().filename() != kLock) std::filesystem::remove_all(entry.path(), ignored);
  }
  std::filesystem::remove_all(path, ignored);
} catch (const std::exception&) {
}

/// Removes \p path if it is empty and an hour old: then its process ended before it made the lock, or after it removed
/// it.
void remove_if_stale(const std::filesystem::path& path) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  if (!error && std::filesystem::file_time_type::clock::now() - written > std::chrono::hours(1)) rmdir(path.c_str());
}

/// The directories that are removed when the process exits, because some compilers are never destroyed.
struct Registry {
  std::mutex mutex;
  std::map<std::filesystem::path, pid_t> owners;

  static Registry& process() {
    static Registry& registry = *new Registry;  // never destroyed, because it is used while the process exits
    return registry;
  }
  void add(const std::filesystem::path& path) {
    static const int at_exit = std::atexit([] { process().remove_all(); });
    (void)at_exit;
    const std::lock_guard lock(mutex);
    owners.emplace(path, getpid());
  }
  void take(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex);
    owners.erase(path);
  }
  void remove_all() {
    // If a child was forked while another thread held the lock, it stays locked: the child must end nevertheless.
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return;
    for (const auto& [path, owner] : owners)
      if (owner == getpid()) remove_folder(path);
  }
};

}  // namespace

void PrivateDirectory::remove_abandoned(const std::filesystem::path& parent) try {
  // increment() would end the process without memory: libstdc++ declares it noexcept.
  for (const auto& entry : std::filesystem::directory_iterator(parent)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const Descriptor lock = lock_if_abandoned(entry.path());
    if (lock)
      remove_folder(entry.path());
    else
      remove_if_stale(entry.path());
  }
} catch (const std::filesystem::filesystem_error&) {
}

PrivateDirectory::PrivateDirectory() : owner_(getpid()) {
  const std::filesystem::path parent = temporary_directory();
  static std::once_flag swept;
  std::call_once(swept, [&parent] { remove_abandoned(parent); });
  std::string name = (parent / (std::string(kPrefix) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Error("cannot make a private directory " + name + ": " + std::strerror(errno) +
                "; set TMPDIR to a folder that can be written");
  }
  path_ = name;
  // The mark is written under the lock: a process that reads the mark finds the lock taken.
  lock_ = Descriptor(open((path_ / kLock).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 ||
      !write_all(lock_.get(), std::as_bytes(std::span(kMark)))) {
    const int why = errno;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    throw Error("cannot write to " + name + ": " + std::strerror(why) + "; set TMPDIR to a folder with room");
  }
  Registry::process().add(path_);
}

PrivateDirectory::~PrivateDirectory() {
  if (getpid() != owner_) return;
  remove_folder(path_);
  Registry::process().take(path_);
}

}  // namespace tuner::host
