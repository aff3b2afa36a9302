#pragma once
/// The format of a database file: checks whether a file has it, and creates it. Private to this room.

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace tuner::cache {

/// One kind of file.
struct FileKind {
  std::string what;  ///< for messages: "wisdom database"
  int application_id = 0;
  int version = 0;
  /// Versions from this one on differ only by additions, so each can read the others' files; 0: \p version.
  int oldest = 0;
  std::string schema;                       ///< creates everything of version \p oldest in an empty file
  std::vector<std::string> additions = {};  ///< one for each later version, in order
  bool memory_fallback = true;
  bool durable = true;  ///< false: no fsync; a power cut may cost the file
  bool must_be_private = false;
  bool frozen = false;     ///< never written again, so it is read without locks, which some file systems lack.
  bool own_place = false;  ///< any file with this name and place is tuner's, and may be set aside when broken.
};

/// The low and high 16 bits of user_version.
struct FormatVersion {
  int written = 0;  ///< the version that wrote the file
  int reader = 0;   ///< the oldest version that may read the file
};
FormatVersion version_of(SQLite::Database& db);

/// How a program that reads \p kind sees a file.
enum class Contents {
  ours,
  earlier,  ///< readable; upgrade() adds what is missing
  empty,
  older,
  newer,
  foreign
};
Contents inspect(SQLite::Database& db, const FileKind& kind);

/// Why a file of another version cannot be used, and what to do.
std::string other_version(SQLite::Database& db, const FileKind& kind);

/// Writes the schema into an empty file, in one transaction; leaves any other file as it is. Throws SQLite::Exception.
void create(SQLite::Database& db, const FileKind& kind);

/// Adds to an earlier file what it lacks, in one transaction; leaves any other as it is. Throws SQLite::Exception.
void upgrade(SQLite::Database& db, const FileKind& kind);

/// Names of the tables and indices that \p kind defines for the file's version and that \p db lacks.
std::vector<std::string> missing_definitions(SQLite::Database& db, const FileKind& kind);

/// Whether the file has exactly the definitions of \p kind (a newer version: at least these) and SQLite finds no fault
/// in it. Reads the whole file.
bool is_intact(SQLite::Database& db, const FileKind& kind);

}  // namespace tuner::cache
