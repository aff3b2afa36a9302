#pragma once
/// Builds the read-only databases of a package from reviewed wisdom text.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <cache/database.hpp>
#include <cache/error.hpp>

namespace tuner::cache {

/// In the folder of the databases; lines as sha256sum prints them.
inline constexpr const char* kManifestName = "MANIFEST.sha256";
/// The SHA-256 of each file name in \p folder's manifest; empty without a manifest.
std::map<std::string, std::string> read_manifest(const std::filesystem::path& folder);

/// In the folder of the databases: a line for each database and device with results in it. Size of the database in
/// bytes, its name and the device's key, separated by tabs.
inline constexpr const char* kDevicesName = "DEVICES.tsv";
/// True when DEVICES.tsv beside \p file describes the file with its present size and does not list \p device_key.
bool lacks_device(const std::filesystem::path& file, const std::string& device_key);

/// Makes `NAME.db` in \p folder, mode 0444, from each `NAME.jsonl` or `NAME.jsonl.gz`. Adds their SHA-256 to
/// `MANIFEST.sha256` and their devices to `DEVICES.tsv`, where lines of other existing files stay. Equal texts give
/// equal databases. Throws ImportError for a text that cannot be read, CacheError for a place that cannot be written.
/// No database is replaced until all texts have been read. Returns the paths of the databases.
std::vector<std::filesystem::path> build_shipped_databases(const std::vector<std::filesystem::path>& texts,
                                                           const std::filesystem::path& folder);

/// Writes \p database, which is in memory, to \p target, mode 0444, and replaces any file there. Throws CacheError.
void write_copy(Database& database, const std::filesystem::path& target);

}  // namespace tuner::cache
