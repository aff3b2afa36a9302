#include <cache/file/connection.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <new>
#include <optional>
#include <random>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cache/file/file_locks.hpp>
#include <cache/file/paths.hpp>
#include <cache/file/side_files.hpp>
#include <cache/records/stored_records.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

/// Waits a random time, so that no writer starves because the others happen to be in step.
int wait_for_lock(void* data, int count) {
  auto& patience = *static_cast<Patience*>(data);
  const auto now = std::chrono::steady_clock::now();
  if (count == 0) patience.deadline = now + patience.limit;
  if (now >= patience.deadline) return 0;
  patience.random = patience.random * 6364136223846793005u + 1442695040888963407u;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(patience.deadline - now);
  const std::uint64_t least_us = patience.asks_a_server ? 1'000'000 : 100;
  const std::uint64_t more_us = patience.asks_a_server ? 1'000'000 : std::min(500u << std::min(count, 6), 20'000u);
  std::this_thread::sleep_for(std::min(left, std::chrono::microseconds(least_us + (patience.random >> 33) % more_us)));
  return 1;
}

/// Whether SQLite's work has taken too long.
int has_taken_too_long(void* data) { return cpu_time() > static_cast<const Patience*>(data)->work_ends ? 1 : 0; }
constexpr int kStepsBetween = 10'000;  // about a millisecond

/// How SQLite names a file that nobody changes: https://www.sqlite.org/uri.html
std::string immutable_uri(const fs::path& file) {
  std::string uri = file.is_absolute() ? "file://" : "file:";  // a path may begin with two slashes
  for (const char c : file.string())
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", c);
    else
      uri += c;
  return uri + "?immutable=1";
}

constexpr const char* kNoDescriptor = "no file descriptor is free: close files, or raise the limit (ulimit -n)";

/// Whether this process or the machine can open no more files.
bool no_free_descriptor() {
  const int one = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (one >= 0) ::close(one);
  return one < 0 && (errno == EMFILE || errno == ENFILE);
}

/// Far more than any record.
constexpr int kMostBytesOfValue = 16 << 20;

/// How SQLite names \p file: with links followed, and absolute, which is never an URI nor ":memory:". Throws
/// SQLite::Exception.
std::string name_of(const fs::path& file) {
  if (file.empty()) throw SQLite::Exception("its name is empty", SQLITE_PERM);
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  const fs::path real = error ? absolute : fs::weakly_canonical(absolute, error);
  if (error) throw SQLite::Exception(error.message(), SQLITE_CANTOPEN);
  return real.string();
}

/// The end of a message about a failed write.
std::string file_size_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format("; this process may write no file beyond {} bytes (`ulimit -f`)", limit.rlim_cur);
}

}  // namespace

Patience::Patience(std::chrono::milliseconds wait)
    : limit(wait), random(std::random_device{}() ^ (static_cast<std::uint64_t>(::getpid()) << 32)) {}

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

WorkLimit::WorkLimit(Patience& patience, std::chrono::milliseconds longest) : patience_(patience) {
  patience_.work_ends = cpu_time() + longest;
}

std::shared_ptr<SQLite::Database> connect(const fs::path& file, int flags, Patience& patience, bool never_written) {
  lock_by_open_file();
  patience.asks_a_server = on_network_file_system(file);
  std::shared_ptr<SQLite::Database> db;
  {
    const CheckedSideFiles known;
    db = std::make_shared<SQLite::Database>(never_written ? immutable_uri(file) : name_of(file),
                                            flags | (never_written ? SQLite::OPEN_URI : 0), 0, known.name());
  }
  sqlite3* handle = db->getHandle();
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostBytesOfValue);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_handler(handle, &wait_for_lock, &patience);
  limit_work(*db, patience);
  // The file may come from anywhere: none of its triggers and views runs, and SQL cannot write to its internal tables.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  db->exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;");
  return db;
}

void limit_work(SQLite::Database& db, const Patience& patience) {
  sqlite3_progress_handler(db.getHandle(), kStepsBetween, &has_taken_too_long, const_cast<Patience*>(&patience));
}

std::shared_ptr<SQLite::Database> connect_memory() {
  return std::make_shared<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
}

void prepare_for_writing(SQLite::Database& db) {
  db.exec(
      "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_spill = OFF");
}

bool is_damage(int code) {
  code &= 0xff;
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT;
}

bool may_be_damage(const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  return is_damage(code) || code == SQLITE_ERROR || code == SQLITE_CONSTRAINT;
}

bool is_passing(const SQLite::Exception& error, const fs::path& file) {
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_PERM:  // of a journal, which somebody can remove
      return true;
    case SQLITE_CANTOPEN:  // the permissions and the name are in order
      return ::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) == 0;
    default:
      return false;
  }
}

void require_memory(const SQLite::Exception& error) {
  if ((error.getErrorCode() & 0xff) == SQLITE_NOMEM || error.getExtendedErrorCode() == SQLITE_IOERR_NOMEM)
    throw std::bad_alloc();
}

std::optional<std::string> bytes_of_file(const fs::path& file, std::int64_t offset, std::int64_t count) {
  lock_by_open_file();
  sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
  if (vfs == nullptr) throw std::bad_alloc();
  std::error_code error;
  const std::string name =
      fs::absolute(file, error).string() + std::string(4, '\0');  // SQLite looks for parameters after it
  const std::unique_ptr<char[]> room(new char[static_cast<std::size_t>(vfs->szOsFile)]());
  auto* const opened = reinterpret_cast<sqlite3_file*>(room.get());
  if (error || vfs->xOpen(vfs, name.c_str(), opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nullptr) != SQLITE_OK)
    return std::nullopt;
  const std::unique_ptr<sqlite3_file, void (*)(sqlite3_file*)> closing(
      opened, [](sqlite3_file* one) { one->pMethods->xClose(one); });
  sqlite3_int64 size = 0;
  if (opened->pMethods->xFileSize(opened, &size) != SQLITE_OK) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(std::clamp<std::int64_t>(size - offset, 0, count)), '\0');
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 20;
  for (std::size_t done = 0; done < bytes.size(); done += kMostAtOnce)
    if (opened->pMethods->xRead(opened, bytes.data() + done,
                                static_cast<int>(std::min(kMostAtOnce, bytes.size() - done)),
                                offset + static_cast<std::int64_t>(done)) != SQLITE_OK)
      return std::nullopt;
  return bytes;
}

std::shared_ptr<SQLite::Database> connect_bytes(std::string_view bytes) {
  auto db = connect_memory();
  auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(std::max<std::size_t>(bytes.size(), 1)));
  if (copy == nullptr) throw std::bad_alloc();
  std::copy(bytes.begin(), bytes.end(), copy);
  if (bytes.size() > 19) copy[18] = copy[19] = 1;  // memory has no write-ahead log
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  const int result = sqlite3_deserialize(db->getHandle(), "main", copy, size, size,
                                         SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
  if (result != SQLITE_OK) throw SQLite::Exception(db->getHandle(), result);
  return db;
}

std::string why_no_file(const fs::path& file) {
  if (const auto obstacle = obstacle_to(file, /*to_write=*/false)) return "it cannot be opened: " + *obstacle;
  std::error_code error;
  return fs::exists(file, error) ? "it is not a regular file" : "there is no such file";
}

std::string read_only_reason(const fs::path& file) {
  const auto obstacle = obstacle_to(file, /*to_write=*/true);
  return "it is read-only" + (obstacle ? ": " + *obstacle : std::string());
}

std::string explain(const SQLite::Exception& error, const fs::path& file, bool to_write) {
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "another process holds it locked";
    case SQLITE_READONLY:
      return read_only_reason(file);
    case SQLITE_PERM:
      return last_refusal().empty() ? std::string(error.what()) : last_refusal();
    case SQLITE_CANTOPEN: {
      if (no_free_descriptor()) return kNoDescriptor;
      const auto obstacle = obstacle_to(file, to_write);
      return obstacle ? "it cannot be opened: " + *obstacle : "it, its folder or its journal cannot be opened";
    }
    case SQLITE_INTERRUPT:
      return "work on it took far longer than on any sound file of its size";
    case SQLITE_IOERR:
      if (no_free_descriptor() || lock_lacked_descriptor()) return kNoDescriptor;
      return fmt::format("input/output error ({}){}", error.getErrorStr(),
                         error.getExtendedErrorCode() == SQLITE_IOERR_WRITE ? file_size_limit() : "");
    default:
      return error.what();
  }
}

std::int64_t number(SQLite::Database& db, const char* sql) { return db.execAndGet(sql).getInt64(); }

std::string word(SQLite::Database& db, const char* sql) {
  SQLite::Statement query(db, sql);
  return query.executeStep() ? query.getColumn(0).getString() : std::string();
}

void rollback(SQLite::Database* db) {
  // It may fail for lack of memory. The transaction would then stay open.
  for (int attempt = 0; attempt < 3 && db != nullptr && sqlite3_get_autocommit(db->getHandle()) == 0; ++attempt)
    sqlite3_exec(db->getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

FolderLock::FolderLock(const fs::path& folder, int operation, std::chrono::milliseconds wait)
    : descriptor_(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (descriptor_ >= 0 && ::flock(descriptor_, operation | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

fs::path move_aside(const fs::path& file, const FileStamp::Identity& identity, const char* suffix,
                    std::chrono::milliseconds wait) {
  const FolderLock lock(file.parent_path(), LOCK_EX, wait);
  if (real_disk().stamp_of(file).identity != identity) return {};
  std::string now = instant_text(std::int64_t{std::time(nullptr)} * 1000);  // 2026-01-31T23:59:59.000Z
  now.erase(now.find('.'), 4);
  std::erase_if(now, [](char c) { return c == '-' || c == ':'; });
  const auto name = fmt::format("{}.{}-{}", file.string(), suffix, now);
  fs::path target = name;
  std::error_code error;
  for (int i = 1; fs::exists(target, error); ++i) target = fmt::format("{}-{}", name, i);
  // The journals are renamed first: SQLite would apply a journal that stays to the new file.
  for (const char* side : {"-journal", "-wal", "-shm"}) {
    const fs::path from = file.string() + side;
    if (fs::exists(from, error)) fs::rename(from, target.string() + side);
  }
  fs::rename(file, target);
  return target;
}

}  // namespace tuner::cache
