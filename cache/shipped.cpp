#include <cache/shipped.hpp>

#include <chrono>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <sqlite3.h>

#include <cache/browse.hpp>
#include <cache/connection.hpp>
#include <cache/disk.hpp>
#include <cache/exchange.hpp>
#include <cache/sealed_file.hpp>
#include <cache/sha256.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

struct DeviceLine {
  std::string bytes, name, key;
};

std::istringstream read_lines(const fs::path& file, Disk& disk) {
  std::string text;
  return std::istringstream(disk.read(file, kMaxTextBytes, text) ? "" : text);
}

std::vector<DeviceLine> read_devices(const fs::path& folder, Disk& disk) {
  std::vector<DeviceLine> lines;
  std::istringstream file = read_lines(folder / kDevicesName, disk);
  for (DeviceLine line;
       std::getline(file, line.bytes, '\t') && std::getline(file, line.name, '\t') && std::getline(file, line.key);)
    lines.push_back(line);
  return lines;
}

constexpr unsigned kReadOnly = 0444;  // nobody shall write to these databases

}  // namespace

std::string bytes_of(Database& database) {
  SQLite::Database& db = database.store().connection();
  db.exec("VACUUM");
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(sqlite3_serialize(db.getHandle(), "main", &size, 0),
                                                              &sqlite3_free);
  if (!bytes) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size)};
}

std::map<std::string, std::string> read_manifest(const fs::path& folder, Disk& disk) {
  std::map<std::string, std::string> hashes;
  std::istringstream manifest = read_lines(folder / kManifestName, disk);
  for (std::string line; std::getline(manifest, line);) {
    if (line.size() > 66) hashes.insert_or_assign(line.substr(66), line.substr(0, 64));
  }
  return hashes;
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

std::vector<fs::path> build_shipped_databases(const std::vector<fs::path>& texts, const fs::path& folder, Disk& disk) {
  auto manifest = read_manifest(folder, disk);
  std::string ignored;
  std::erase_if(manifest, [&](const auto& entry) { return disk.read(folder / entry.first, 0, ignored).has_value(); });
  std::map<std::string, std::string> built;  // bytes by name
  std::vector<fs::path> files;
  std::string devices;
  for (const auto& text : texts) {
    auto stem = text.filename();
    while (stem.extension() == ".gz" || stem.extension() == ".jsonl") stem = stem.stem();
    const std::string name = files.emplace_back(folder / (stem.string() + ".db")).filename();
    auto database = Database::in_memory();
    import_text(database, read_text(text, kMaxTextBytes, disk), text.string());
    std::set<std::string> keys;
    for (const BestRecord& best : best_rows(database)) keys.insert(best.device.key);
    for (const QuarantineRecord& record : quarantined(database)) keys.insert(record.device_key);
    const std::string& bytes = built[name] = bytes_of(database);
    for (const std::string& key : keys) devices += fmt::format("{}\t{}\t{}\n", bytes.size(), name, key);
    manifest[name] = sha256_hex(bytes);
  }
  (void)disk.make_folder(folder, 0755);
  for (const auto& [name, bytes] : built) replace_file(folder / name, bytes, kReadOnly, disk);
  for (const DeviceLine& line : read_devices(folder, disk))
    if (manifest.contains(line.name) && !built.contains(line.name))
      devices += line.bytes + '\t' + line.name + '\t' + line.key + '\n';
  std::string lines;
  for (const auto& [name, hash] : manifest) lines += hash + "  " + name + '\n';
  write_text(folder / kManifestName, lines, disk);
  write_text(folder / kDevicesName, devices, disk);
  return files;
}

std::int64_t freeze(Database& from, const fs::path& file, Disk& disk) {
  auto frozen = Database::in_memory();
  const std::int64_t best = copy_for_freezing(frozen, from);
  if (best == 0)
    throw CacheError(
        fmt::format("nothing is frozen: no best result is known in what was given, so that every call would be served "
                    "with its default. `tune KERNEL` finds results; {} was not written",
                    file.string()));
  frozen.store().connection().exec("CREATE TABLE frozen(digest TEXT NOT NULL) STRICT");

  const std::string bytes = bytes_of(frozen);
  replace_file(file, bytes + seal_of(bytes), kReadOnly, disk);
  return best;
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

std::optional<std::string> why_not_frozen(SQLite::Database& db) {
  if (!is_frozen(db))
    return "it is not frozen, and what a session or an import adds to it would be known to some processes and not to "
           "others: make a frozen one of it with `tune db freeze`";
  switch (seal_state(db.getHandle())) {
    case SealState::sound:
      return std::nullopt;
    case SealState::earlier:
      return "it was frozen by an earlier tuner: make it again with `tune db freeze`";
    case SealState::none:
      break;
  }
  return kFrozenIsDamaged;
}

}  // namespace tuner::cache
