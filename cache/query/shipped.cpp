#include <cache/query/shipped.hpp>

#include <chrono>
#include <memory>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include <cache/file/connection.hpp>
#include <cache/file/disk.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

std::istringstream read_lines(const fs::path& file, Disk& disk) {
  std::string text;
  return std::istringstream(disk.read(file, kMaxTextBytes, text) ? "" : text);
}

}  // namespace

std::map<std::string, std::string> read_manifest(const fs::path& folder, Disk& disk) {
  std::map<std::string, std::string> hashes;
  std::istringstream manifest = read_lines(folder / kManifestName, disk);
  for (std::string line; std::getline(manifest, line);) {
    if (line.size() > 66) hashes.insert_or_assign(line.substr(66), line.substr(0, 64));
  }
  return hashes;
}

std::vector<DeviceLine> read_devices(const fs::path& folder, Disk& disk) {
  std::vector<DeviceLine> lines;
  std::istringstream file = read_lines(folder / kDevicesName, disk);
  for (DeviceLine line;
       std::getline(file, line.bytes, '\t') && std::getline(file, line.name, '\t') && std::getline(file, line.key);)
    lines.push_back(line);
  return lines;
}

bool lacks_device(const fs::path& file, const std::string& device_key) {
  std::error_code error;
  const std::string bytes = std::to_string(fs::file_size(file, error));
  bool named = false;
  for (const DeviceLine& line : read_devices(file.parent_path(), real_disk())) {
    if (line.name != file.filename() || line.bytes != bytes) continue;
    if (line.key == device_key) return false;
    named = true;
  }
  return named;
}

bool is_frozen_file(const fs::path& path) try {
  if (!is_database_file(path)) return false;
  Patience patience(std::chrono::seconds(10));
  patience.work_ends = cpu_time() + std::chrono::seconds(10);
  return is_frozen(*connect(path, SQLite::OPEN_READONLY, patience));
} catch (const std::exception&) {
  return false;
}

bool is_frozen(SQLite::Database& db) {
  return number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'frozen'") > 0;
}

}  // namespace tuner::cache
