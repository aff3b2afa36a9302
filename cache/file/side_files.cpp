#include <cache/file/side_files.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tuner::cache {
namespace {

/// At the begin of each journal, and again at its end after the name of another file.
constexpr std::string_view kMark("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);

std::string& refusal() {
  static thread_local std::string text;
  return text;
}

int refuse(const char* file, const char* why) noexcept try {
  refusal() = fmt::format("{} beside it {}; remove it, or give the database another name", file, why);
  return SQLITE_PERM;
} catch (const std::exception&) {
  return SQLITE_NOMEM;
}

/// SQLite's name for the database that \p side stands beside.
std::string database_of(std::string_view side) { return std::string(side.substr(0, side.rfind('-'))); }

/// Whether only somebody who may write the database can have made \p side, a file beside it.
bool is_by_a_writer(const struct stat& side, const char* name) {
  if (side.st_uid == ::geteuid() || side.st_uid == 0) return true;
  const std::string file = database_of(name);
  const std::string place = file.substr(0, file.rfind('/') + 1);
  struct stat database {};
  struct stat folder {};
  if (::stat(file.c_str(), &database) != 0 || ::stat(place.c_str(), &folder) != 0) return false;
  // In a folder that everybody may write to, the folder's group may be anybody's.
  const bool for_group = (database.st_mode & S_IWGRP) != 0 && (folder.st_mode & S_IWOTH) == 0;
  return side.st_uid == database.st_uid || (for_group && side.st_gid == database.st_gid);
}

/// Checks the open file \p descriptor. Returns SQLITE_OK or SQLITE_PERM.
int check(int descriptor, const char* name) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return SQLITE_IOERR_FSTAT;
  if (!S_ISREG(info.st_mode)) return refuse(name, "is not a regular file");
  if (info.st_nlink > 1) return refuse(name, "has a second name: writing to it would change another file");
  if (!is_by_a_writer(info, name)) return refuse(name, "belongs to another user than the database");
  return SQLITE_OK;
}

constexpr const char* kNamesAFile = "names another file, which would be deleted";

sqlite3_vfs* system_of(sqlite3_vfs* layer) { return static_cast<sqlite3_vfs*>(layer->pAppData); }

/// A journal that tuner opened itself, so that what was checked is what is used.
struct SideFile : sqlite3_file {
  int descriptor = -1;
  bool is_new = false;  ///< its name may not outlast a power cut yet
  char* name = nullptr;
};
SideFile& of(sqlite3_file* file) { return *static_cast<SideFile*>(file); }

int close(sqlite3_file* file) {
  SideFile& side = of(file);
  if (side.descriptor >= 0) ::close(side.descriptor);
  sqlite3_free(side.name);
  file->pMethods = nullptr;
  return SQLITE_OK;
}

/// Reads \p amount bytes, or fewer at the end of the file. Returns the number, or -1.
ssize_t read_all(int descriptor, char* to, std::size_t amount, off_t offset) {
  std::size_t done = 0;
  while (done < amount) {
    const ssize_t got = ::pread(descriptor, to + done, amount - done, offset + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

int size(sqlite3_file* file, sqlite3_int64* bytes) {
  struct stat info {};
  if (::fstat(of(file).descriptor, &info) != 0) return SQLITE_IOERR_FSTAT;
  *bytes = info.st_size;
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* buffer, int amount, sqlite3_int64 offset) {
  const SideFile& side = of(file);
  auto* const to = static_cast<char*>(buffer);
  const auto wanted = static_cast<std::size_t>(amount);
  const ssize_t got = read_all(side.descriptor, to, wanted, offset);
  if (got < 0) return SQLITE_IOERR_READ;
  const auto done = static_cast<std::size_t>(got);
  if (done < wanted) {
    std::memset(to + done, 0, wanted - done);
    return SQLITE_IOERR_SHORT_READ;
  }
  // SQLite looks for the mark in the last bytes of a journal, and believes the name before it.
  if (std::string_view(to, done) == kMark && offset > 0) {
    sqlite3_int64 end = 0;
    if (size(file, &end) != SQLITE_OK) return SQLITE_IOERR_FSTAT;
    if (offset + amount == end) return refuse(side.name, kNamesAFile);
  }
  return SQLITE_OK;
}

int write(sqlite3_file* file, const void* bytes, int amount, sqlite3_int64 offset) {
  const auto* from = static_cast<const char*>(bytes);
  while (amount > 0) {
    const ssize_t done = ::pwrite(of(file).descriptor, from, static_cast<std::size_t>(amount), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    from += done;
    amount -= static_cast<int>(done);
    offset += done;
  }
  return SQLITE_OK;
}

/// Some file systems have no sync.
int sync_descriptor(int descriptor) {
  return ::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

int sync(sqlite3_file* file, int) {
  SideFile& side = of(file);
  if (const int result = sync_descriptor(side.descriptor); result != SQLITE_OK || !side.is_new) return result;
  std::array<char, 4096> folder{};
  const std::string_view name = side.name;
  const std::size_t length = std::min(name.rfind('/') + 1, folder.size() - 1);
  std::copy_n(name.begin(), length, folder.begin());
  const int descriptor = ::open(folder.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SQLITE_OK;  // as SQLite does it
  (void)sync_descriptor(descriptor);
  ::close(descriptor);
  side.is_new = false;
  return SQLITE_OK;
}

const sqlite3_io_methods kMethods = [] {
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = &close;
  methods.xRead = &read;
  methods.xWrite = &write;
  methods.xTruncate = [](sqlite3_file* file, sqlite3_int64 bytes) {
    return ::ftruncate(of(file).descriptor, bytes) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
  };
  methods.xSync = &sync;
  methods.xFileSize = &size;
  methods.xLock = methods.xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; };
  methods.xCheckReservedLock = [](sqlite3_file*, int* held) { return *held = 0, SQLITE_OK; };
  methods.xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; };
  methods.xSectorSize = [](sqlite3_file*) { return 4096; };
  methods.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };
  return methods;
}();

/// The permissions and the owner of the database, for a journal of it.
void give_to_owner_of(const std::string& database, int descriptor) {
  struct stat info {};
  if (::stat(database.c_str(), &info) != 0) return;
  (void)::fchmod(descriptor, info.st_mode & 0777);
  if (::geteuid() == 0 && ::fchown(descriptor, info.st_uid, info.st_gid) != 0) return;
}

/// Opens \p name, which may be anything, without waiting. Returns -1 on failure, and errno says why.
int open_for(const char* name, int flags) {
  int how = (flags & SQLITE_OPEN_READWRITE) != 0 ? O_RDWR : O_RDONLY;
  if ((flags & SQLITE_OPEN_CREATE) != 0) how |= O_CREAT;
  int descriptor = -1;
  do descriptor = ::open(name, how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int other = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);  // what a program prints would go into it
  ::close(descriptor);
  return other;
}

int failure_to_open(const char* name, int flags) {
  switch (errno) {
    case ELOOP:
    case EISDIR:
    case ENXIO:  // a pipe or socket
      return refuse(name, "is not a regular file");
    case EACCES:
    case EROFS:
      return (flags & SQLITE_OPEN_CREATE) != 0 ? SQLITE_READONLY_DIRECTORY : SQLITE_CANTOPEN;
    case ENOMEM:
      return SQLITE_NOMEM;
    default:
      return SQLITE_CANTOPEN;
  }
}

int open_side_file(const char* name, SideFile& side, int flags, int* out_flags) {
  const std::string database = database_of(name);  // nothing is allocated once the file is there
  side.name = sqlite3_mprintf("%s", name);
  if (side.name == nullptr) return SQLITE_NOMEM;
  struct stat before {};
  const bool existed = ::lstat(name, &before) == 0;
  side.descriptor = open_for(name, flags);
  if (side.descriptor < 0 && (flags & SQLITE_OPEN_READWRITE) != 0 && existed && errno != EISDIR && errno != ELOOP) {
    flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    side.descriptor = open_for(name, flags);
  }
  if (side.descriptor < 0) return failure_to_open(name, flags);
  if (const int result = check(side.descriptor, name); result != SQLITE_OK) return result;
  side.is_new = (flags & SQLITE_OPEN_CREATE) != 0;
  if (!existed && side.is_new) give_to_owner_of(database, side.descriptor);
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

/// Whether SQLite may use the file \p name, if it is there.
int check_place(const char* name) {
  struct stat info {};
  if (::lstat(name, &info) != 0) return SQLITE_OK;
  const int descriptor = open_for(name, SQLITE_OPEN_READONLY);
  if (descriptor < 0) {
    if (errno == ENOENT) return SQLITE_OK;
    return errno == EACCES && !is_by_a_writer(info, name) ? refuse(name, "belongs to another user than the database")
                                                          : failure_to_open(name, SQLITE_OPEN_READONLY);
  }
  int result = check(descriptor, name);
  std::array<char, kMark.size()> end{};
  if (result == SQLITE_OK && ::fstat(descriptor, &info) == 0 && info.st_size > static_cast<off_t>(end.size()) &&
      read_all(descriptor, end.data(), end.size(), info.st_size - static_cast<off_t>(end.size())) ==
          static_cast<ssize_t>(end.size()) &&
      std::string_view(end.data(), end.size()) == kMark)
    result = refuse(name, kNamesAFile);
  ::close(descriptor);
  return result;
}

int access(sqlite3_vfs* layer, const char* name, int flags, int* result) noexcept try {
  const std::string_view text = name;
  if (text.ends_with("-journal") || text.ends_with("-wal"))
    if (const int checked = check_place(name); checked != SQLITE_OK) return checked;
  sqlite3_vfs* const system = system_of(layer);
  return system->xAccess(system, name, flags, result);
} catch (const std::exception&) {
  return SQLITE_NOMEM;
}

int open(sqlite3_vfs* layer, const char* name, sqlite3_file* at, int flags, int* out_flags) noexcept {
  sqlite3_vfs* const system = system_of(layer);
  at->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) return refuse(name, kNamesAFile);
  if ((flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) == 0)
    return system->xOpen(system, name, at, flags, out_flags);
  auto& side = *new (at) SideFile;
  int result = SQLITE_OK;
  try {
    // SQLite opens the shared memory of a write-ahead log itself, after the log.
    if ((flags & SQLITE_OPEN_WAL) != 0) result = check_place((database_of(name) + "-shm").c_str());
    if (result == SQLITE_OK) result = open_side_file(name, side, flags, out_flags);
  } catch (const std::exception&) {
    result = SQLITE_NOMEM;
  }
  if (result == SQLITE_OK)
    side.pMethods = &kMethods;
  else
    (void)close(at);
  return result;
}

struct Layer {
  Layer() : name(fmt::format("tuner-checked-{}", fmt::ptr(this))) {
    sqlite3_vfs* const system = sqlite3_vfs_find("unix");
    if (system == nullptr) throw std::bad_alloc();  // SQLite could not start
    vfs = *system;
    vfs.zName = name.c_str();
    vfs.pNext = nullptr;
    vfs.pAppData = system;
    vfs.szOsFile += static_cast<int>(sizeof(SideFile));
    vfs.xOpen = &open;
    vfs.xAccess = &access;
  }
  const std::string name;
  sqlite3_vfs vfs{};
  std::mutex mutex;
  int users = 0;
};

/// Never destroyed: open connections use it, also while the process ends.
Layer& layer() {
  static Layer& only = *new Layer;
  return only;
}

}  // namespace

CheckedSideFiles::CheckedSideFiles() {
  const std::lock_guard lock(layer().mutex);
  if (layer().users++ == 0) sqlite3_vfs_register(&layer().vfs, 0);
}

CheckedSideFiles::~CheckedSideFiles() {
  const std::lock_guard lock(layer().mutex);
  if (--layer().users == 0) sqlite3_vfs_unregister(&layer().vfs);
}

const char* CheckedSideFiles::name() { return layer().name.c_str(); }

const std::string& last_refusal() { return refusal(); }

}  // namespace tuner::cache
