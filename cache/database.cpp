#include <cache/database.hpp>

#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include <cache/migration.hpp>
#include <cache/record_checks.hpp>
#include <cache/paths.hpp>
#include <cache/rows.hpp>
#include <cache/sha256.hpp>
#include <cache/stamps.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

Store::Kind wisdom_kind() { return {"wisdom database", kApplicationId, kSchemaVersion, kSchema, &migrate_wisdom}; }

Store::Options store_options(OpenOptions options) {
  Store::Options result;
  result.warn = std::move(options.warn);
  result.busy_timeout = options.busy_timeout;
  result.check_bytes = options.check_bytes;
  result.max_pages = options.max_pages;
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

Database::Database(std::unique_ptr<Store> store) : store_(std::move(store)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::open_user(const fs::path& file, OpenOptions options) {
  return Database(std::make_unique<Store>(wisdom_kind(), file, Store::Mode::user, store_options(std::move(options))));
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
  Database database(std::make_unique<Store>(wisdom_kind(), file, Store::Mode::shipped, std::move(settings)));
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
bool Database::read_only() const { return store_->mode() == Store::Mode::shipped; }
bool Database::is_in_memory() const { return store_->in_memory(); }
std::string Database::trouble() const { return store_->trouble(); }

void Database::quarantine(const DeviceRecord& device, const KernelRecord& kernel, const std::string& configuration,
                          const std::string& reason) {
  for (const auto& problem : {problem_with(device), problem_with(kernel), problem_with_configuration(configuration)}) {
    if (problem) throw CacheError("cannot quarantine: " + *problem);
  }
  const QuarantineRecord record{device.key, kernel, configuration, reason, now_ms()};
  store_->write([&] { put_quarantine(*store_, record); });
}

std::vector<QuarantineRecord> Database::quarantined(const std::string& device_key, const KernelRecord& kernel) {
  return store_->read([&] {
    std::vector<QuarantineRecord> found;
    const auto kernel_id = find_kernel(*store_, kernel);
    if (!kernel_id) return found;
    Query row(*store_,
              "SELECT c.text, q.reason, q.created_ms FROM quarantine q JOIN configuration c ON c.id = "
              "q.configuration_id WHERE q.device_key = ? AND q.kernel_id = ? ORDER BY c.text",
              device_key, *kernel_id);
    while (row.next()) found.push_back({device_key, kernel, row.text(0), row.text(1), row.integer(2)});
    return found;
  });
}

}  // namespace tuner::cache
