#include <cache/exchange/shipping.hpp>

#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>

#include <fmt/format.h>
#include <sqlite3.h>

#include <cache/exchange/exchange.hpp>
#include <cache/file/connection.hpp>
#include <cache/file/seal.hpp>
#include <cache/query/browse.hpp>
#include <cache/query/shipped.hpp>
#include <cache/query/store.hpp>
#include <cache/records/sha256.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

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

  std::string bytes = bytes_of(frozen);
  bytes += seal_of(bytes);
  if (static_cast<std::int64_t>(bytes.size()) > kMaxCopiedBytes)
    throw CacheError(
        fmt::format("{} was not written: it would have {} bytes, and frozen databases of more than {} are "
                    "refused; freeze fewer kernels or devices",
                    file.string(), bytes.size(), kMaxCopiedBytes));
  replace_file(file, bytes, kReadOnly, disk);
  return best;
}

}  // namespace tuner::cache
