#pragma once
/// SQLite connections as this room wants them: patient, hardened against what a file may contain, and with errors that
/// tell damage from a file that cannot be written just now. Private to this room.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

namespace tuner::cache {

/// How long, and how, a connection waits for another process's lock.
struct Patience {
  explicit Patience(std::chrono::milliseconds limit);

  std::chrono::milliseconds limit;  ///< of one wait
  std::chrono::steady_clock::time_point deadline;
  std::uint64_t random;
};

/// \p patience must outlive the connection. Throws SQLite::Exception.
std::shared_ptr<SQLite::Database> connect(const std::filesystem::path& file, int flags, Patience& patience);
std::shared_ptr<SQLite::Database> connect_memory();
/// Sets the journal and how carefully it is written. \p durable: see FileKind.
void prepare_for_writing(SQLite::Database& db, const std::filesystem::path& file, bool durable);

/// Whether SQLite's \p code says that the file itself is bad.
bool is_damage(int code);
/// The words of SQLite for what made a file unwritable, made a little more helpful.
std::string explain(const SQLite::Exception& error);

/// The first column of the first row; 0 or nothing without rows.
std::int64_t number(SQLite::Database& db, const char* sql);
std::string word(SQLite::Database& db, const char* sql);

/// Ends the open transaction, where there is one. \p db may be null.
void rollback(SQLite::Database* db);

}  // namespace tuner::cache
