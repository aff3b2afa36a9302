#include <cache/file/file_locks.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tuner::cache {
namespace {

/// The first byte that SQLite locks in a database (sqlite.org/fileformat2.html, "the lock-byte page"). SQLite locks
/// earlier bytes only in the shared memory of a write-ahead log; those locks are not changed.
constexpr off_t kPendingByte = 0x40000000;
constexpr std::size_t kMostIdle = 8;

/// Holds all locks of this SQLite on one file. SQLite itself shares them between its connections.
struct Locker {
  int descriptor = -1;
  bool held = false;
};

/// Never destroyed: a thread may still write while the process ends.
struct Lockers {
  const pid_t process = ::getpid();
  std::mutex mutex;
  std::map<std::pair<dev_t, ino_t>, Locker> by_file;  // an open file's inode number is not reused
};

/// The lockers of this process. A forked child has copies of its parent's descriptors, and locks through copies do not
/// exclude each other: it begins with none. It does not close the copies, as their numbers may be other files by now.
Lockers& lockers() {
  static std::atomic<Lockers*> current{new Lockers};
  Lockers* known = current;
  if (known->process == ::getpid()) return *known;
  auto own = std::make_unique<Lockers>();
  if (!current.compare_exchange_strong(known, own.get())) return *known;  // another thread of the child was first
  return *own.release();
}

bool& lacked_descriptor() {
  static thread_local bool it_did = false;
  return it_did;
}

int open_again(int file, int how) {
  std::array<char, 32> name{};
  (void)std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", file);
  return ::open(name.data(), how | O_CLOEXEC);
}

Locker* locker_of(Lockers& all, int file) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return nullptr;
  const std::pair identity{info.st_dev, info.st_ino};
  if (const auto known = all.by_file.find(identity); known != all.by_file.end()) return &known->second;
  if (all.by_file.size() >= kMostIdle)
    std::erase_if(all.by_file, [](const auto& one) { return !one.second.held && ::close(one.second.descriptor) == 0; });
  const auto added = all.by_file.try_emplace(identity).first;
  added->second.descriptor = open_again(file, O_RDWR);
  if (added->second.descriptor < 0) added->second.descriptor = open_again(file, O_RDONLY);
  if (added->second.descriptor >= 0) return &added->second;
  all.by_file.erase(added);
  return nullptr;
}

/// Like fcntl() for F_SETLK and F_GETLK. Fails with EINVAL when this file or range cannot be locked this way. No
/// exception may pass SQLite, which is C.
int lock_file(int file, int command, struct flock& wanted) noexcept try {
  const bool all_of_it = wanted.l_start == 0 && wanted.l_len == 0;
  errno = EINVAL;
  if (wanted.l_start < kPendingByte && !all_of_it) return -1;
  Lockers& all = lockers();
  const std::lock_guard lock(all.mutex);
  Locker* const locker = locker_of(all, file);
  if (locker == nullptr) {
    // A lock of the process instead would outlive this moment: it is not released through a descriptor of ours.
    const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    lacked_descriptor() = errno == EMFILE || errno == ENFILE;
    return errno = is_short ? ENOMEM : EINVAL, -1;
  }
  lacked_descriptor() = false;
  wanted.l_pid = 0;
  const int result = ::fcntl(locker->descriptor, command == F_GETLK ? F_OFD_GETLK : F_OFD_SETLK, &wanted);
  if (result == 0 && command == F_SETLK) locker->held = wanted.l_type != F_UNLCK || (locker->held && !all_of_it);
  return result;
} catch (const std::exception&) {
  return errno = ENOMEM, -1;
}

int fcntl_for_sqlite(int file, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (command == F_SETLK || command == F_GETLK) {
    const int result = lock_file(file, command, *static_cast<struct flock*>(argument));
    if (result == 0 || errno != EINVAL) return result;
  }
  return ::fcntl(file, command, argument);
}

/// Whether both addresses lie in the same program or shared object.
bool are_linked_together(const void* a, const void* b) {
  Dl_info of_a{}, of_b{};
  return ::dladdr(a, &of_a) != 0 && ::dladdr(b, &of_b) != 0 && of_a.dli_fbase == of_b.dli_fbase;
}

}  // namespace

bool lock_lacked_descriptor() { return lacked_descriptor(); }

void lock_by_open_file() {
  static std::once_flag once;
  std::call_once(once, [] {
    sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
    if (vfs == nullptr || vfs->iVersion < 3 ||
        !are_linked_together(reinterpret_cast<const void*>(&sqlite3_libversion_number),
                             reinterpret_cast<const void*>(&lock_by_open_file)))
      return;
    vfs->xSetSystemCall(vfs, "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(&fcntl_for_sqlite));
  });
}

}  // namespace tuner::cache
