#pragma once
/// The tables of a wisdom database: creates them, and checks whether a file has them. Private to this room.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace tuner::cache {

/// How this program sees a file.
enum class Contents { ours, empty, older, newer, foreign };
Contents inspect(SQLite::Database& db);

/// For reading a file that the version before this one wrote: the connection sees its best configurations without a
/// rule. Returns false for any other version.
bool read_as_this_version(SQLite::Database& db);
/// The version that wrote the file.
int version_of(SQLite::Database& db);
/// Why a file of another version cannot be used, and what to do.
std::string other_version(SQLite::Database& db);

/// Writes the schema into an empty file, in one transaction; leaves any other file as it is. Throws SQLite::Exception.
void create(SQLite::Database& db);

/// A sentence for each table and index that is missing, or not defined as create() defines it. Values in such a table
/// may have any type and order: reading could go wrong, or never end. A newer version may define them in its own way.
std::vector<std::string> wrong_definitions(SQLite::Database& db);
bool has_its_definitions(SQLite::Database& db);

/// The result of reading all of a database.
enum class Finding {
  sound,  ///< also one that is empty, of another version or gone
  foreign,
  damaged,
  unknown  ///< it could not be read now
};
/// Reads everything in \p db, which was opened from \p file.
Finding examine(SQLite::Database& db, const std::filesystem::path& file);
/// Opens \p file again and examines it, and then examines its bytes, which it reads without SQLite's pages. Returns
/// what both find. If they differ, or \p file changed meanwhile, or it is too large to be held in memory, it is
/// unknown.
Finding examine_twice(const std::filesystem::path& file, std::chrono::milliseconds patience);

}  // namespace tuner::cache
