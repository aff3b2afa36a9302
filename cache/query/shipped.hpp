#pragma once
/// Databases that nobody writes to any more: those of a package, made from reviewed wisdom text, and frozen ones.
/// exchange/shipping.hpp makes them.
///
/// All processes of a job read one frozen database and get the same answers. It holds the best results and the
/// quarantine of its sources, one result for each problem, kernel source and device. Its seal (seal.hpp) shows any
/// later change. Database::open_frozen() opens it.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <cache/file/disk.hpp>
#include <cache/query/database.hpp>

namespace SQLite {
class Database;
}

namespace tuner::cache {

/// In the folder of the databases; lines as sha256sum prints them.
inline constexpr const char* kManifestName = "MANIFEST.sha256";
/// The SHA-256 of each file name in \p folder's manifest; empty without a manifest.
std::map<std::string, std::string> read_manifest(const std::filesystem::path& folder, Disk& disk = real_disk());

/// In the folder of the databases: a line for each database and device with results in it. Size of the database in
/// bytes, its name and the device's key, separated by tabs.
inline constexpr const char* kDevicesName = "DEVICES.tsv";
struct DeviceLine {
  std::string bytes, name, key;
};

/// All lines; empty without that file.
std::vector<DeviceLine> read_devices(const std::filesystem::path& folder, Disk& disk);
/// True when DEVICES.tsv beside \p file describes the file with its present size and does not list \p device_key.
bool lacks_device(const std::filesystem::path& file, const std::string& device_key);

/// Whether freeze() made the file at \p path, damaged or not; false when it cannot be read.
bool is_frozen_file(const std::filesystem::path& path);

// ---- for the files of this room -------------------------------------------------------------------------------------

/// Whether freeze() made the open database.
bool is_frozen(SQLite::Database& db);
inline constexpr const char* kNotFrozen =
    "it is not frozen. A session or an import may add to it, and then only some processes would know: make a frozen "
    "one of it with `tune db freeze`";
inline constexpr const char* kFrozenIsDamaged =
    "it is damaged, or was changed after it was frozen: copy it again, or make it again with `tune db freeze`";

}  // namespace tuner::cache
