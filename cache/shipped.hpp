#pragma once
/// Builds the read-only databases that a package ships from reviewed wisdom text.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <cache/database.hpp>
#include <cache/error.hpp>

namespace tuner::cache {

/// Lines of sha256sum, beside the databases.
inline constexpr const char* kManifestName = "MANIFEST.sha256";
/// What the manifest in \p folder promises: SHA-256 by file name. Empty without one.
std::map<std::string, std::string> read_manifest(const std::filesystem::path& folder);

/// Beside the databases: a line for each device that one of them has results of, with its size in bytes, its name and
/// the device's key, tabs between them.
inline constexpr const char* kDevicesName = "DEVICES.tsv";
/// Whether DEVICES.tsv beside \p file names its devices, as it is now, and \p device_key is not among them.
bool lacks_device(const std::filesystem::path& file, const std::string& device_key);

/// Makes `NAME.db` in \p folder from each `NAME.jsonl` (or `.jsonl.gz`), mode 0444, and writes their SHA-256 to
/// `MANIFEST.sha256` and their devices to `DEVICES.tsv` beside them, where lines of other files that are still there
/// stay. Equal texts give equal databases. Throws ImportError for a text that cannot be read, CacheError for a place
/// that cannot be written; databases that existed are not touched then. Returns the paths of the databases.
std::vector<std::filesystem::path> build_shipped_databases(const std::vector<std::filesystem::path>& texts,
                                                           const std::filesystem::path& folder);

/// Writes \p database, which is in memory, to \p target, mode 0444, in the place of what stood there. Throws
/// CacheError.
void write_copy(Database& database, const std::filesystem::path& target);

}  // namespace tuner::cache
