#pragma once
/// What a database file is: its format, whether a given file has it, and how it gets it. Private to this room.

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace tuner::cache {

/// One kind of file.
struct FileKind {
  std::string what;  ///< for messages: "wisdom database"
  int application_id = 0;
  int version = 0;
  /// From this version on, versions differ in what they add, so that each may read the others' files; 0: \p version.
  int oldest = 0;
  std::string schema;                       ///< creates everything of version \p oldest in an empty file
  std::vector<std::string> additions = {};  ///< of the versions after it, one after the other
  bool memory_fallback = true;
  bool durable = true;  ///< false: no fsync; a power cut may cost the file
  bool must_be_private = false;
  bool frozen = false;     ///< nobody writes it any more: it is read without locks, which not every file system has
  bool own_place = false;  ///< whatever stands there under this name is tuner's, and may be set aside when broken
};

/// The low and the high half of user_version.
struct FormatVersion {
  int written = 0;  ///< the version it was made with
  int reader = 0;   ///< the oldest version that may read it
};
FormatVersion version_of(SQLite::Database& db);

/// What a file is to a program that reads \p kind.
enum class Contents {
  ours,
  earlier,  ///< ours to read; upgrade() adds what it lacks
  empty,
  older,
  newer,
  foreign
};
Contents inspect(SQLite::Database& db, const FileKind& kind);

/// Why a file of another version cannot be used, and what to do.
std::string other_version(SQLite::Database& db, const FileKind& kind);

/// Makes an empty file ours, in one transaction; leaves any other as it is. Throws SQLite::Exception.
void create(SQLite::Database& db, const FileKind& kind);

/// Adds what an earlier file lacks, in one transaction; leaves any other as it is. Throws SQLite::Exception.
void upgrade(SQLite::Database& db, const FileKind& kind);

/// Names of the tables and indices of \p kind, in the file's version, that \p db lacks.
std::vector<std::string> missing_definitions(SQLite::Database& db, const FileKind& kind);

/// Whether the file has the very definitions of \p kind (one of a newer version: at least these) and SQLite finds no
/// fault in it. Reads all of it.
bool is_intact(SQLite::Database& db, const FileKind& kind);

}  // namespace tuner::cache
