#pragma once
/// Makes databases that nobody writes to any more (query/shipped.hpp).

#include <cstdint>
#include <filesystem>
#include <vector>

#include <cache/file/disk.hpp>
#include <cache/query/database.hpp>

namespace tuner::cache {

/// Makes `NAME.db` in \p folder, mode 0444, from each `NAME.jsonl` or `NAME.jsonl.gz`. Adds their SHA-256 to
/// `MANIFEST.sha256` and their devices to `DEVICES.tsv`, where lines of other existing files stay. Equal texts give
/// equal databases. Throws ImportError for a text that cannot be read, CacheError for a place that cannot be written.
/// No database is replaced until all texts have been read. Returns the paths of the databases.
std::vector<std::filesystem::path> build_shipped_databases(const std::vector<std::filesystem::path>& texts,
                                                           const std::filesystem::path& folder,
                                                           Disk& disk = real_disk());

/// Writes the contents of \p from to \p file, mode 0444, replacing any file there. Equal contents give equal files.
/// Returns the number of best results. Throws CacheError, and keeps the old file, when there are none or \p file cannot
/// be written.
std::int64_t freeze(Database& from, const std::filesystem::path& file, Disk& disk = real_disk());

/// The file for a database in memory, without gaps and old data: equal texts give equal files.
std::string bytes_of(Database& database);

}  // namespace tuner::cache
