#include <cache/file/disk.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cache/records/stored_records.hpp>
#include <cache/records/sha256.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec; }

std::string last_error() { return std::strerror(errno); }

/// The same for \p file: without permission, it names the one that is missing.
std::string last_error(const fs::path& file, bool to_write) {
  const int error = errno;
  const auto obstacle = error == EACCES || error == EPERM ? obstacle_to(file, to_write) : std::nullopt;
  return std::strerror(error) + (obstacle ? " (" + *obstacle + ")" : "");
}

std::string name_of_user(uid_t user) {
  char room[4096];
  struct passwd entry {
  }, *known = nullptr;
  const bool found = ::getpwuid_r(user, &entry, room, sizeof room, &known) == 0 && known != nullptr;
  return found ? known->pw_name : fmt::format("user {}", user);
}

/// "mode 0600, of root".
std::string permissions(const struct stat& info) {
  return fmt::format("mode {:04o}, of {}", info.st_mode & 07777, name_of_user(info.st_uid));
}

/// Between the name of a file and a UUID: the file is not complete.
constexpr std::string_view kPart = ".part-";

/// Some file systems have no sync.
Failure synced(int descriptor) {
  return ::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP ? last_error() : Failure();
}

/// An open file, or -1.
struct Descriptor {
  explicit Descriptor(int descriptor) : number(descriptor) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

/// Whether \p group belongs to this user alone: it has the user's name and no other member. With umask 002, the default
/// of Ubuntu, such a group can write to all that the user creates.
bool is_group_of_one(gid_t group) {
  char of_user[4096], of_group[16384];
  struct passwd user {
  }, *known = nullptr;
  struct group entry {
  }, *found = nullptr;
  if (::getpwuid_r(::geteuid(), &user, of_user, sizeof of_user, &known) != 0 || known == nullptr) return false;
  if (::getgrgid_r(group, &entry, of_group, sizeof of_group, &found) != 0 || found == nullptr) return false;
  const std::string_view name = user.pw_name;
  if (user.pw_gid != group || name != entry.gr_name) return false;
  for (char** member = entry.gr_mem; *member != nullptr; ++member)
    if (name != *member) return false;
  return true;
}

/// Whether a folder with this owner on \p device may be root's. In a user namespace without root (rootless containers)
/// the kernel shows one number for all users outside: there only folders beside `/` itself count.
bool may_be_of_root(uid_t owner, dev_t device) {
  if (owner == 0) return true;
  std::ifstream map("/proc/self/uid_map");
  for (std::int64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;)
    if (inside == 0) return false;
  uid_t other = 0;
  struct stat root {};
  return std::ifstream("/proc/sys/kernel/overflowuid") >> other && owner == other && ::stat("/", &root) == 0 &&
         root.st_dev == device;
}

class RealDisk : public Disk {
 public:
  Failure read(const fs::path& file, std::size_t limit, std::string& bytes) override {
    // Without blocking: a FIFO has no end, and a device may have none.
    const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (in.number < 0) return last_error(file, /*to_write=*/false);
    struct stat info {};
    if (::fstat(in.number, &info) != 0) return last_error();
    if (!S_ISREG(info.st_mode)) return "it is not a regular file";
    bytes.resize(std::min(limit, static_cast<std::size_t>(info.st_size)));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t got = ::read(in.number, bytes.data() + done, bytes.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return last_error();
      if (got == 0) bytes.resize(done);  // it was cut meanwhile
      done += static_cast<std::size_t>(got);
    }
    return std::nullopt;
  }

  Failure write(const fs::path& file, std::string_view bytes, unsigned mode, bool lasts) override {
    Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (out.number < 0) return last_error(file, /*to_write=*/true);
    // Held until it is complete, so that nobody takes it for what a killed process has left.
    struct flock writing {};
    writing.l_type = F_WRLCK;
    (void)::fcntl(out.number, F_OFD_SETLK, &writing);
    while (!bytes.empty()) {
      const ssize_t done = ::write(out.number, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return last_error();
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    if (lasts)
      if (Failure failure = synced(out.number)) return failure;
    // Network file systems and quotas may report a full disk only here.
    return ::close(std::exchange(out.number, -1)) == 0 ? Failure() : last_error();
  }

  Failure rename(const fs::path& from, const fs::path& to) override {
    struct stat info {};
    if (::lstat(to.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return "it exists and is not a regular file";
    return ::rename(from.c_str(), to.c_str()) == 0 ? Failure() : last_error();
  }

  Failure sync_names(const fs::path& folder) override {
    const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return open.number < 0 ? last_error() : synced(open.number);
  }

  void remove(const fs::path& path) override {
    std::error_code error;
    fs::remove_all(path, error);
  }

  FileStamp stamp_of(const fs::path& file) override {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return {};
    return {{info.st_dev, info.st_ino}, info.st_size, nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
  }

  std::vector<Entry> list(const fs::path& folder) override {
    // Not with std::filesystem, whose iterator ends the process without memory: parts of it are noexcept.
    std::vector<Entry> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
    while (const dirent* const entry = open ? ::readdir(open.get()) : nullptr) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      fs::path path = folder / name;
      const FileStamp stamp = stamp_of(path);
      found.push_back({std::move(path), stamp});
    }
    return found;
  }

  Failure make_folder(const fs::path& folder, unsigned mode) override {
    std::error_code error;
    if (folder.empty() || fs::is_directory(folder, error)) return std::nullopt;
    if (auto failure = make_folder(folder.parent_path(), mode)) return failure;
    if (::mkdir(folder.c_str(), mode) == 0) return std::nullopt;
    const std::string reason = last_error(folder.parent_path(), /*to_write=*/true);
    return fs::is_directory(folder, error) ? Failure() : reason;  // another process may have been faster
  }

  std::optional<std::string> exposure_of(const fs::path& path, bool installed) override {
    std::error_code error;
    auto place = fs::canonical(path, error);
    if (error) return fmt::format("{} cannot be looked at: {}", path.string(), error.message());
    for (bool above = false;; above = true, place = place.parent_path()) {
      struct stat info {};
      if (::lstat(place.c_str(), &info) != 0) return fmt::format("{} cannot be looked at", place.string());
      // In a folder with the sticky bit (like /tmp) everybody may add files, but only owners rename or remove them.
      const bool sticky = above && (info.st_mode & S_ISVTX) != 0;
      const bool is_of_root = above ? may_be_of_root(info.st_uid, info.st_dev) : installed && info.st_uid == 0;
      if (info.st_uid != ::geteuid() && !is_of_root) {
        return fmt::format("{} belongs to somebody else ({}){}", place.string(), permissions(info),
                           installed ? "" : " (set TUNER_CACHE_DIR to a folder of your own)");
      }
      const bool by_group = (info.st_mode & S_IWGRP) != 0 && !sticky && !is_group_of_one(info.st_gid);
      if (by_group || ((info.st_mode & S_IWOTH) != 0 && !sticky)) {
        return fmt::format("others can write to {} ({}; chmod go-w {})", place.string(), permissions(info),
                           place.string());
      }
      if (place == place.root_path()) return std::nullopt;
    }
  }

  Lock lock(const fs::path& file, std::int64_t byte, std::shared_ptr<void>& held) override {
    const auto open =
        std::make_shared<Descriptor>(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (open->number < 0) return Lock::impossible;
    // A lock of the open file description. A lock of the process would be lost when any descriptor of the file is
    // closed, and threads would share it.
    struct flock wanted {};
    wanted.l_type = F_WRLCK;
    wanted.l_whence = SEEK_SET;
    wanted.l_start = byte;
    wanted.l_len = 1;
    int result = 0;
    do result = ::fcntl(open->number, F_OFD_SETLK, &wanted);
    while (result != 0 && errno == EINTR);
    if (result != 0) return errno == EAGAIN || errno == EACCES ? Lock::refused : Lock::impossible;
    held = open;
    return Lock::taken;
  }

  std::chrono::steady_clock::time_point now() override { return std::chrono::steady_clock::now(); }
};

// ---- compressed text -----------------------------------------------------------------------------------------------

constexpr int kGzip = 16 + MAX_WBITS;  // for zlib: with the header of gzip

std::string compressed(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

/// Appends at most \p limit + 1 bytes to \p text.
Failure decompress(std::string_view bytes, std::size_t limit, std::string& text) {
  z_stream stream{};
  inflateInit2(&stream, kGzip);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string part(std::size_t{1} << 16, '\0');
  int state = Z_OK;
  while (state == Z_OK && text.size() <= limit) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(part, 0, part.size() - stream.avail_out);
    // A file may have several parts.
    if (state == Z_STREAM_END && stream.avail_in > 0) state = inflateReset(&stream);
  }
  const std::string reason = stream.msg != nullptr ? stream.msg : "unexpected end of file";
  inflateEnd(&stream);
  return state == Z_STREAM_END || text.size() > limit ? Failure() : reason;
}

[[noreturn]] void fail(const fs::path& file, const char* verb, const std::string& reason) {
  throw CacheError(fmt::format("{} cannot be {}: {}", file.string(), verb, reason));
}

}  // namespace

std::optional<std::string> obstacle_to(const fs::path& file, bool to_write) {
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  const auto may = [](const fs::path& path, int how) {
    return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0 || errno != EACCES;
  };
  const auto named = [](const fs::path& path) -> std::optional<std::string> {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return std::nullopt;
    return fmt::format("{} has mode {:04o} and belongs to {}", path.string(), info.st_mode & 07777,
                       name_of_user(info.st_uid));
  };
  fs::path folder;
  for (const fs::path& part : absolute.parent_path()) {
    folder /= part;
    if (!may(folder, X_OK)) return named(folder);
  }
  if (!may(absolute, to_write ? R_OK | W_OK : R_OK)) return named(absolute);
  if (to_write && !may(folder, W_OK)) return named(folder);
  return std::nullopt;
}

bool FileStamp::is_settled() const {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now) - 3'000'000'000 > std::max(written_ns, changed_ns);
}

Disk& real_disk() {
  static RealDisk& disk = *new RealDisk;  // never destroyed: threads may use it while the process ends
  return disk;
}

Failure Disk::replace(const fs::path& file, std::string_view bytes, unsigned mode, bool lasts) {
  const fs::path part = fmt::format("{}{}{}", file.string(), kPart, make_uuid());
  Failure failure = write(part, bytes, mode, lasts);
  if (!failure) failure = rename(part, file);
  if (failure)
    remove(part);
  else if (lasts)
    (void)sync_names(file.has_parent_path() ? file.parent_path()
                                            : ".");  // the new file is there, whatever comes of this
  return failure;
}

void remove_parts(const fs::path& folder, Disk& disk) {
  constexpr std::int64_t kAtLeast = 10'000'000'000, kSurely = 3600 * std::int64_t{1'000'000'000};
  constexpr std::size_t kUuid = 36;
  const std::int64_t now = now_ms() * 1'000'000;
  for (const Disk::Entry& entry : disk.list(folder)) {
    const std::string name = entry.path.filename().string();
    const std::size_t at = name.rfind(kPart);
    if (at == std::string::npos || name.size() - at != kPart.size() + kUuid) continue;
    const std::int64_t age = now - entry.stamp.written_ns;
    std::shared_ptr<void> held;
    if (age > kSurely || (age > kAtLeast && disk.lock(entry.path, 0, held) == Disk::Lock::taken))
      disk.remove(entry.path);
  }
}

void replace_file(const fs::path& file, std::string_view bytes, unsigned mode, Disk& disk, bool lasts) {
  remove_parts(file.has_parent_path() ? file.parent_path() : ".", disk);
  if (const Failure failure = disk.replace(file, bytes, mode, lasts)) fail(file, "written", *failure);
}

void write_text(const fs::path& file, std::string_view text, Disk& disk, bool lasts) {
  if (is_database_file(file, disk)) fail(file, "written", "it is a database, which text never replaces");
  replace_file(file, file.extension() == ".gz" ? compressed(text) : text, 0666, disk, lasts);
}

std::string read_text(const fs::path& file, std::size_t limit, Disk& disk) {
  std::string bytes, text;
  Failure failure = disk.read(file, limit + 1, bytes);
  const bool compressed = bytes.starts_with("\x1f\x8b");
  if (!failure && compressed) failure = decompress(bytes, limit, text);
  if (failure) fail(file, "read", *failure);
  if (!compressed) text = std::move(bytes);
  if (text.size() > limit) fail(file, "read", fmt::format("its text is longer than {} MiB", limit >> 20));
  return text;
}

bool is_database_file(const fs::path& path, Disk& disk) {
  std::string bytes;
  return !disk.read(path, 16, bytes) && is_database(bytes);
}

Claim::Claim(const std::filesystem::path& database, std::string_view what, Disk& disk)
    : file_(database.string() + ".claims"),
      byte_(static_cast<std::int64_t>(std::stoull(sha256_hex(what).substr(0, 16), nullptr, 16) >> 2)),
      disk_(disk) {}

bool Claim::take() {
  const auto now = disk_.now();
  if (held_) return true;
  if (refused_ && now - *refused_ < std::chrono::seconds(1)) return false;
  const bool taken = disk_.lock(file_, byte_, held_) != Disk::Lock::refused;
  refused_ = taken ? std::nullopt : std::optional(now);
  return taken;
}

}  // namespace tuner::cache
