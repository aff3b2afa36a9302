#pragma once
/// Frozen databases: all processes of a job read one and get the same answers. It holds the best results and the
/// quarantine of its sources, one result for each problem, kernel source and device. A digest shows any later change.
/// Nobody writes to it. Database::open_frozen() opens it.

#include <filesystem>
#include <optional>
#include <string>

#include <cache/database.hpp>

namespace SQLite {
class Database;
}

namespace tuner::cache {

/// Writes the contents of \p from to \p file, mode 0444, replacing any file there. Equal contents give equal files.
/// Returns the number of best results. Throws CacheError, and keeps the old file, when there are none or \p file cannot
/// be written.
std::int64_t freeze(Database& from, const std::filesystem::path& file);

/// Whether freeze() made the file at \p path, damaged or not; false when it cannot be read.
bool is_frozen_file(const std::filesystem::path& path);

// ---- for the files of this room -------------------------------------------------------------------------------------

/// The same for an open database.
bool is_frozen(SQLite::Database& db);
/// Explains why a database differs from what freeze() wrote, and what to do; nullopt: it does not differ. Reads the
/// whole file, and each row if the seal is missing or wrong. Throws SQLite::Exception.
std::optional<std::string> why_not_frozen(SQLite::Database& db);

}  // namespace tuner::cache
