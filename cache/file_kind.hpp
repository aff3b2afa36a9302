#pragma once
/// What a database file is: its format, whether a given file has it, and how it gets it. Private to this room.

#include <functional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

namespace tuner::cache {

/// One kind of file.
struct FileKind {
  std::string what;  ///< for messages: "wisdom database"
  int application_id = 0;
  int version = 0;     ///< user_version
  const char* schema;  ///< creates everything in an empty file
  /// Brings the file from version \p from to from + 1, inside a transaction.
  std::function<void(SQLite::Database&, int from)> migrate;
  bool memory_fallback = true;
  bool durable = true;  ///< false: no fsync; a power cut may cost the file
  bool must_be_private = false;
};

/// What a file is to a program that reads \p kind.
enum class Contents { ours, empty, older, newer, foreign };
Contents inspect(SQLite::Database& db, const FileKind& kind);

/// Makes an empty or older file ours, in one transaction; leaves any other as it is. Throws SQLite::Exception.
void create_or_migrate(SQLite::Database& db, const FileKind& kind);

/// Whether the file has the very definitions of \p kind and SQLite finds no fault in it. Reads all of it.
bool is_intact(SQLite::Database& db, const FileKind& kind);

}  // namespace tuner::cache
