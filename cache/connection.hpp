#pragma once
/// SQLite connections as this room wants them: patient, hardened against what a file may contain, and with errors that
/// tell damage from a file that cannot be written just now; and the replacement of a broken file while other processes
/// open it. Private to this room.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

namespace tuner::cache {

/// How long, and how, a connection waits for another process's lock.
struct Patience {
  explicit Patience(std::chrono::milliseconds limit);

  std::chrono::milliseconds limit;  ///< of one wait
  bool asks_a_server = false;       ///< for the lock: it is asked at most once a second
  std::chrono::steady_clock::time_point deadline;
  std::uint64_t random;
};

/// \p patience must outlive the connection. \p vfs: how SQLite reaches files; empty: its default. Throws
/// SQLite::Exception.
std::shared_ptr<SQLite::Database> connect(const std::filesystem::path& file, int flags, Patience& patience,
                                          const char* vfs = "");
std::shared_ptr<SQLite::Database> connect_memory();
/// Sets the journal and how carefully it is written. \p durable: see FileKind.
void prepare_for_writing(SQLite::Database& db, const std::filesystem::path& file, bool durable);

/// Whether SQLite's \p code says that the file itself is bad.
bool is_damage(int code);
/// The words of SQLite for what made a file unwritable, made a little more helpful.
std::string explain(const SQLite::Exception& error);

/// The first column of the first row; nothing without rows, which a number must have.
std::int64_t number(SQLite::Database& db, const char* sql);
std::string word(SQLite::Database& db, const char* sql);

/// Ends the open transaction, where there is one. \p db may be null.
void rollback(SQLite::Database* db);

/// Device and inode; zeros for a file that is not there.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;
FileIdentity identity_of(const std::filesystem::path& file);

/// What a change of contents changes: identity, bytes, and when they were written, in nanoseconds.
struct FileStamp {
  FileIdentity identity;
  std::int64_t bytes = 0, written_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::filesystem::path& file);

/// Locks the folder of a file between processes: LOCK_EX while a broken file is replaced, LOCK_SH while one is opened.
/// A connection to the replaced file would take the new one's journal for its own and roll it back. No lock file stays
/// behind. Where folders cannot be locked (some network file systems) the identity has to do.
class FolderLock {
 public:
  /// \p operation: of flock(2). Waits.
  FolderLock(const std::filesystem::path& folder, int operation);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// Renames \p file and its journals to `FILE.SUFFIX-TIME` and returns that; an empty path when what stands there is not
/// \p identity any more. This process must have closed it. Throws filesystem_error.
std::filesystem::path move_aside(const std::filesystem::path& file, const FileIdentity& identity, const char* suffix);

}  // namespace tuner::cache
