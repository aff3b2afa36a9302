#include <cache/query/database.hpp>

#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include <cache/file/connection.hpp>
#include <cache/file/disk.hpp>
#include <cache/file/paths.hpp>
#include <cache/query/browse.hpp>
#include <cache/query/rows.hpp>
#include <cache/query/shipped.hpp>
#include <cache/query/store.hpp>
#include <cache/records/sha256.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
Database::Database(std::unique_ptr<Store> store, bool shipped) : store_(std::move(store)), shipped_(shipped) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::open_user(const fs::path& file, OpenOptions options) {
  return Database(std::make_unique<Store>(file, Store::Mode::read_write, std::move(options)));
}

Database Database::open_read_only(const fs::path& file, OpenOptions options) {
  options.strict = true;
  return Database(std::make_unique<Store>(file, Store::Mode::read_only, std::move(options)));
}

Database Database::in_memory(OpenOptions options) {
  return Database(std::make_unique<Store>(fs::path(), Store::Mode::memory, std::move(options)));
}

std::optional<Database> Database::open_shipped(const fs::path& file, OpenOptions options) {
  const auto ignored = [&](const std::string& reason) {
    if (options.warn) options.warn(fmt::format("wisdom database {} is ignored: {}", file.string(), reason));
    return std::nullopt;
  };
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return ignored(why_no_file(file));
  const auto manifest = options.check_digest ? read_manifest(file.parent_path()) : std::map<std::string, std::string>();
  if (const auto promised = manifest.find(file.filename().string()); promised != manifest.end()) {
    try {
      if (sha256_file(file) != promised->second)
        return ignored("its SHA-256 is not the one in MANIFEST.sha256 beside it");
    } catch (const CacheError& failure) {
      return ignored(failure.what());
    }
    options.check_bytes = 0;
  }
  Database database(std::make_unique<Store>(file, Store::Mode::read_only, std::move(options)), true);
  if (!database.store_->usable()) return std::nullopt;
  return database;
}

Database Database::open_frozen(const fs::path& file, OpenOptions options) {
  options.strict = true;
  return Database(std::make_unique<Store>(file, Store::Mode::frozen, std::move(options)));
}

const fs::path& Database::path() const { return store_->path(); }
bool Database::is_frozen() const { return store_->is_frozen(); }
bool Database::is_in_memory() const { return store_->in_memory(); }
bool Database::retry_file() {
  if (path().empty() || !is_in_memory()) return false;
  (void)answer_or_nothing([&] { return store_->read([] { return 0; }); });
  return is_in_memory();
}
std::optional<std::string> Database::why_unknown() const { return store_->why_unknown(); }

std::optional<LastCommit> last_commit(const fs::path& file) {
  const FileStamp::Identity identity = real_disk().stamp_of(file).identity;
  std::error_code error;
  if (identity == FileStamp::Identity())
    return fs::exists(file, error) || error ? std::nullopt : std::optional(LastCommit{});
  const auto counter = bytes_of_file(file, 24, 4);  // sqlite.org/fileformat2.html, "File change counter"
  if (!counter) return std::nullopt;
  LastCommit last{.file = identity};
  std::memcpy(&last.counter, counter->data(), counter->size());
  return last;
}
std::string Database::trouble() const { return store_->trouble(); }

void Database::quarantine(const DeviceRecord& device, const KernelRecord& kernel, const ProblemRecord& problem,
                          const std::string& configuration, const std::string& reason) {
  const QuarantineRecord record{device.key, kernel, problem, configuration, prose(reason), now_ms()};
  for (const auto& trouble : {problem_with(device), problem_with(record)}) {
    if (trouble) throw CacheError("cannot quarantine: " + *trouble);
  }
  store_->write([&store = *store_, record] {
    if (!stored(store, record)) put(store, record);  // the earliest report stays
  });
}

namespace {

std::vector<QuarantineRecord> quarantined_rows(Store& store, const std::string& device_key, const KernelRecord& kernel,
                                               const ProblemRecord& problem) {
  return store.read([&] {
    std::vector<QuarantineRecord> found;
    Query row(store,
              statements<QuarantineRecord>().select +
                  " WHERE kernel = ? OR device_key = ? ORDER BY choices, sizes, quarantined",
              kernel.name, device_key);
    while (row.next()) {
      QuarantineRecord record;
      const bool sound = take(row, record);
      const int same = (record.device_key == device_key) + (record.kernel == kernel) + alike(record.problem, problem);
      if (!sound) warn_of_damaged_rows(store);
      if (same >= (sound ? 3 : 2)) found.push_back(std::move(record));  // any one part of a damaged record may be wrong
    }
    return found;
  });
}

}  // namespace

std::vector<QuarantineRecord> Database::quarantined(const std::string& device_key, const KernelRecord& kernel,
                                                    const ProblemRecord& problem) {
  return quarantined_rows(*store_, device_key, kernel, problem);
}

void Database::lift_quarantine(const std::string& device_key, const KernelRecord& kernel, const ProblemRecord& problem,
                               const std::string& configuration) {
  store_->write([&store = *store_, device_key, kernel, problem, configuration] {
    for (const auto& record : quarantined_rows(store, device_key, kernel, problem))
      if (record.problem == problem && record.configuration == configuration) remove(store, record);
  });
}

}  // namespace tuner::cache
