#pragma once
/// SQLite connections for this room. They wait for locks, distrust the contents of a file, and distinguish damage from
/// a file that cannot be written now. Also replaces a broken file while other processes open it. Private to this room.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/file/disk.hpp>

namespace tuner::cache {

/// How long a connection waits for another process's lock, and for SQLite's work.
struct Patience {
  explicit Patience(std::chrono::milliseconds limit);

  std::chrono::milliseconds limit;  ///< of one wait
  bool asks_a_server = false;       ///< a server manages the lock, so it is asked at most once a second
  std::chrono::steady_clock::time_point deadline;
  std::uint64_t random;
  /// On the clock of cpu_time(). After this time SQLite's work fails with SQLITE_INTERRUPT: the pages of a file can be
  /// linked so that reading them all takes for ever.
  std::chrono::nanoseconds work_ends = std::chrono::nanoseconds::max();
};

/// The processor's time that this thread has used. Waiting for a lock or a disk, or being stopped, does not count.
std::chrono::nanoseconds cpu_time();

/// While it lives, SQLite's work may take \p longest.
class WorkLimit {
 public:
  WorkLimit(Patience& patience, std::chrono::milliseconds longest);
  ~WorkLimit() { patience_.work_ends = std::chrono::nanoseconds::max(); }
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;

 private:
  Patience& patience_;
};

/// \p patience must outlive the connection. \p never_written: nobody changes the file, so it is read without locks and
/// without a look at journals. Throws SQLite::Exception.
std::shared_ptr<SQLite::Database> connect(const std::filesystem::path& file, int flags, Patience& patience,
                                          bool never_written = false);
std::shared_ptr<SQLite::Database> connect_memory();
/// Ends work that takes longer than \p patience allows, which must outlive the connection.
void limit_work(SQLite::Database& db, const Patience& patience);
/// Chooses a rollback journal that is fully synchronised. SQLite before 3.51.3 can lose a commit when it resets a
/// write-ahead log, and network file systems lack the memory that such a log needs (sqlite.org/wal.html). A transaction
/// keeps readers out only while it commits: until then its pages stay in memory.
void prepare_for_writing(SQLite::Database& db);

/// Whether SQLite's \p code means that the file itself is damaged.
bool is_damage(int code);
/// Whether \p error, while a file is opened, may mean that it is damaged: a sound file causes none, unless one reading
/// or allocation failed.
bool may_be_damage(const SQLite::Exception& error);
/// Whether \p error says nothing about the contents of \p file: it is locked, its disk failed, or no descriptor was
/// free. Another try may succeed.
bool is_passing(const SQLite::Exception& error, const std::filesystem::path& file);
/// Throws std::bad_alloc if \p error means that SQLite had no memory.
void require_memory(const SQLite::Exception& error);
/// Explains in plain words why \p file cannot be read, or written if \p to_write.
std::string explain(const SQLite::Exception& error, const std::filesystem::path& file, bool to_write);
/// Why there is no regular file \p file.
std::string why_no_file(const std::filesystem::path& file);
/// "it is read-only", and why.
std::string read_only_reason(const std::filesystem::path& file);

/// The first column of the first row. Without rows, number() throws SQLite::Exception and word() returns an empty text.
std::int64_t number(SQLite::Database& db, const char* sql);
std::string word(SQLite::Database& db, const char* sql);

/// Reads \p count bytes of a database from \p offset on, or fewer if the file ends; past SQLite's pages and locks.
/// Returns nullopt if they cannot be read. (If this program closed the file itself, the system would drop SQLite's
/// locks on it.)
std::optional<std::string> bytes_of_file(const std::filesystem::path& file, std::int64_t offset, std::int64_t count);
/// Larger databases are not copied to memory.
inline constexpr std::int64_t kMaxCopiedBytes = std::int64_t{256} << 20;
/// A database in memory with these bytes, which nobody can write to.
std::shared_ptr<SQLite::Database> connect_bytes(std::string_view bytes);

/// Rolls back the open transaction, if there is one. \p db may be null.
void rollback(SQLite::Database* db);

/// Locks the folder of a file between processes: LOCK_EX while a broken file is replaced, LOCK_SH while a file is
/// opened. Without it, a connection to the old file would take the new file's journal for its own and roll it back.
/// Leaves no lock file. Some network file systems cannot lock folders, and who may read a folder may keep it locked;
/// there only the file's identity is compared.
class FolderLock {
 public:
  /// \p operation: as for flock(2). Waits for the lock, but no longer than \p wait.
  FolderLock(const std::filesystem::path& folder, int operation, std::chrono::milliseconds wait);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// Renames \p file and its journals to `FILE.SUFFIX-TIME` and returns the new path. Returns an empty path when \p file
/// no longer has \p identity. This process must have closed the file. \p wait: for FolderLock. Throws filesystem_error.
std::filesystem::path move_aside(const std::filesystem::path& file, const FileStamp::Identity& identity,
                                 const char* suffix, std::chrono::milliseconds wait);

}  // namespace tuner::cache
