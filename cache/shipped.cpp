#include <cache/shipped.hpp>

#include <fstream>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include <cache/browse.hpp>
#include <cache/exchange.hpp>
#include <cache/sha256.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

/// Returns the keys of the devices with results in the database.
std::set<std::string> build(const fs::path& text_file, const fs::path& target) {
  auto database = Database::in_memory();
  import_text(database, read_text(text_file), text_file.string());
  write_copy(database, target);
  std::set<std::string> keys;
  for (const BestRecord& best : best_rows(database)) keys.insert(best.device.key);
  for (const QuarantineRecord& quarantined : cache::quarantined(database, {})) keys.insert(quarantined.device_key);
  return keys;
}

struct DeviceLine {
  std::string bytes, name, key;
};

std::vector<DeviceLine> read_devices(const fs::path& folder) {
  std::vector<DeviceLine> lines;
  std::ifstream file(folder / kDevicesName);
  for (DeviceLine line;
       std::getline(file, line.bytes, '\t') && std::getline(file, line.name, '\t') && std::getline(file, line.key);)
    lines.push_back(line);
  return lines;
}

}  // namespace

void write_copy(Database& database, const fs::path& target) {
  std::error_code error;
  fs::remove(target, error);
  try {
    // VACUUM leaves no gaps and no old data: equal texts give equal files.
    SQLite::Statement vacuum(database.store().connection(), "VACUUM INTO ?");
    vacuum.bind(1, target.string());
    vacuum.exec();
  } catch (const SQLite::Exception& failure) {
    throw CacheError(fmt::format("{} cannot be written: {}", target.string(), failure.what()));
  }
  fs::permissions(target, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read, error);
}

std::map<std::string, std::string> read_manifest(const fs::path& folder) {
  std::map<std::string, std::string> hashes;
  std::ifstream manifest(folder / kManifestName);
  for (std::string line; std::getline(manifest, line);) {
    if (line.size() > 66) hashes.insert_or_assign(line.substr(66), line.substr(0, 64));
  }
  return hashes;
}

bool lacks_device(const fs::path& file, const std::string& device_key) {
  std::error_code error;
  const std::string bytes = std::to_string(fs::file_size(file, error));
  bool named = false;
  for (const DeviceLine& line : read_devices(file.parent_path())) {
    if (line.name != file.filename() || line.bytes != bytes) continue;
    if (line.key == device_key) return false;
    named = true;
  }
  return named;
}

std::vector<fs::path> build_shipped_databases(const std::vector<fs::path>& texts, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::vector<std::pair<fs::path, fs::path>> built;  // temporary, final
  std::map<std::string, std::set<std::string>> devices;
  const auto discard = [&] {
    for (const auto& [part, target] : built) fs::remove(part, error);
  };
  try {
    for (const auto& text : texts) {
      auto stem = text.filename();
      while (!stem.extension().empty() && (stem.extension() == ".gz" || stem.extension() == ".jsonl"))
        stem = stem.stem();
      const auto target = folder / (stem.string() + ".db");
      built.emplace_back(fmt::format("{}.part-{}", target.string(), ::getpid()), target);
      devices[target.filename().string()] = build(text, built.back().first);
    }
  } catch (...) {
    discard();
    throw;
  }
  auto manifest = read_manifest(folder);
  std::erase_if(manifest, [&](const auto& entry) { return !fs::exists(folder / entry.first, error); });
  std::vector<fs::path> files;
  for (const auto& [part, target] : built) {
    manifest[target.filename().string()] = sha256_file(part);
    fs::rename(part, target, error);
    if (error) {
      const auto reason = error.message();
      discard();
      throw CacheError(fmt::format("{} cannot be written: {}", target.string(), reason));
    }
    files.push_back(target);
  }
  std::string lines;
  for (const auto& [name, hash] : manifest) lines += hash + "  " + name + '\n';
  write_text(folder / kManifestName, lines);
  lines.clear();
  for (const DeviceLine& line : read_devices(folder))
    if (manifest.contains(line.name) && !devices.contains(line.name))
      lines += line.bytes + '\t' + line.name + '\t' + line.key + '\n';
  for (const auto& [name, keys] : devices)
    for (const std::string& key : keys)
      lines += std::to_string(fs::file_size(folder / name)) + '\t' + name + '\t' + key + '\n';
  write_text(folder / kDevicesName, lines);
  return files;
}

}  // namespace tuner::cache
