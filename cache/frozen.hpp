#pragma once
/// Databases that every process of a job reads and that answer the same everywhere: best results and the quarantine of
/// their sources, one result for each problem, kernel source and device, and a digest that shows any later change.
/// Nobody writes to one. Database::open_frozen() opens it.

#include <filesystem>
#include <optional>
#include <string>

#include <cache/database.hpp>

namespace SQLite {
class Database;
}

namespace tuner::cache {

/// Writes what \p from holds to \p file, mode 0444, in the place of what stood there. Equal contents give equal files.
/// Returns the number of best results. Throws CacheError when there are none or \p file cannot be written; what stood
/// there is as it was then.
std::int64_t freeze(Database& from, const std::filesystem::path& file);

/// Whether freeze() made the file at \p path, sound or not; false where none can be read.
bool is_frozen_file(const std::filesystem::path& path);

// ---- for the files of this room -------------------------------------------------------------------------------------

/// The same of an open database.
bool is_frozen(SQLite::Database& db);
/// Why a database does not answer as freeze() left it, and what to do. Reads all of it, and each row where it has
/// no seal; throws SQLite::Exception.
std::optional<std::string> why_not_frozen(SQLite::Database& db);

}  // namespace tuner::cache
