#include <cache/database.hpp>

#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include <cache/browse.hpp>
#include <cache/paths.hpp>
#include <cache/record_checks.hpp>
#include <cache/rows.hpp>
#include <cache/sha256.hpp>
#include <cache/stamps.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

Store::Kind wisdom_kind();

/// Nothing older than the present schema was ever released: the first step will be the one from it.
void migrate(SQLite::Database& db, int from) {
  if (from != 0) throw CacheError(other_version(Contents::older, from, wisdom_kind()) + "; it is left as it is");
  const auto set = [&](const char* key, const std::string& value) {
    SQLite::Statement insert(db, "INSERT INTO meta(key, value) VALUES(?, ?)");
    insert.bind(1, key);
    insert.bind(2, value);
    insert.exec();
  };
  set("uuid", make_uuid());
  set("role", "user");
  set("writer", std::to_string(kSchemaVersion));
  set("min_reader", std::to_string(kSchemaVersion));
}

Store::Kind wisdom_kind() { return {"wisdom database", kApplicationId, kSchemaVersion, kWisdomSchema, &migrate}; }

Store::Options store_options(OpenOptions options) {
  Store::Options result;
  result.warn = std::move(options.warn);
  result.busy_timeout = options.busy_timeout;
  result.check_bytes = options.check_bytes;
  result.max_pages = options.max_pages;
  result.strict = options.strict;
  return result;
}

/// What the manifest beside \p file (lines of sha256sum) promises for it; nullopt when it does not name it.
std::optional<std::string> promised_hash(const fs::path& file) {
  std::ifstream manifest(file.parent_path() / "MANIFEST.sha256");
  for (std::string line; std::getline(manifest, line);) {
    if (line.size() > 66 && line.substr(66) == file.filename().string()) return line.substr(0, 64);
  }
  return std::nullopt;
}

}  // namespace

Database::Database(std::unique_ptr<Store> store, bool shipped) : store_(std::move(store)), shipped_(shipped) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::open_user(const fs::path& file, OpenOptions options) {
  auto settings = store_options(std::move(options));
  settings.own_place = file == user_database_file();
  return Database(std::make_unique<Store>(wisdom_kind(), file, Store::Mode::read_write, std::move(settings)));
}

Database Database::open_read_only(const fs::path& file, OpenOptions options) {
  auto settings = store_options(std::move(options));
  settings.strict = true;
  return Database(std::make_unique<Store>(wisdom_kind(), file, Store::Mode::read_only, std::move(settings)));
}

Database Database::in_memory(OpenOptions options) {
  return Database(
      std::make_unique<Store>(wisdom_kind(), fs::path(), Store::Mode::memory, store_options(std::move(options))));
}

std::optional<Database> Database::open_shipped(const fs::path& file, OpenOptions options) {
  auto settings = store_options(std::move(options));
  const auto ignored = [&](const std::string& reason) {
    if (settings.warn) settings.warn(fmt::format("wisdom database {} is ignored: {}", file.string(), reason));
    return std::nullopt;
  };
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return ignored("there is no such file");
  if (const auto promised = promised_hash(file)) {
    try {
      if (sha256_file(file) != *promised) return ignored("its SHA-256 is not the one in MANIFEST.sha256 beside it");
    } catch (const CacheError& failure) {
      return ignored(failure.what());
    }
    settings.skip_check = true;
  }
  Database database(std::make_unique<Store>(wisdom_kind(), file, Store::Mode::read_only, std::move(settings)), true);
  if (!database.store_->usable()) return std::nullopt;
  return database;
}

std::vector<Database> Database::open_all_shipped(const fs::path& application, OpenOptions options) {
  std::vector<Database> all;
  for (const auto& file : shipped_database_files(application)) {
    if (auto database = open_shipped(file, options)) all.push_back(std::move(*database));
  }
  return all;
}

const fs::path& Database::path() const { return store_->path(); }
bool Database::read_only() const { return store_->mode() == Store::Mode::read_only; }
bool Database::is_in_memory() const { return store_->in_memory(); }
std::string Database::trouble() const { return store_->trouble(); }

void Database::quarantine(const DeviceRecord& device, const KernelRecord& kernel, const std::string& configuration,
                          const std::string& reason) {
  const QuarantineRecord record{device.key, kernel, configuration, reason.substr(0, kMaxProseBytes), now_ms()};
  for (const auto& problem : {problem_with(device), problem_with(record)}) {
    if (problem) throw CacheError("cannot quarantine: " + *problem);
  }
  store_->write([&] { put_quarantine(*store_, record); });
}

std::vector<QuarantineRecord> Database::quarantined(const std::string& device_key, const KernelRecord& kernel) {
  auto records = cache::quarantined(*this, {.kernel = kernel.name, .device_key = device_key});
  std::erase_if(records, [&](const QuarantineRecord& record) { return record.kernel != kernel; });
  return records;
}

}  // namespace tuner::cache
