#include <cache/query/schema.hpp>

#include <map>
#include <optional>
#include <string_view>

#include <sqlite3.h>

#include <fmt/format.h>
#include <sys/file.h>

#include <cache/file/connection.hpp>
#include <cache/query/database.hpp>
#include <cache/query/rows.hpp>

namespace tuner::cache {
namespace {

/// `a TEXT NOT NULL, b REAL`: a definition for each field.
struct ColumnDefinitions {
  std::string text;

  template <class T>
  void operator()(const char* name, const T&, unsigned) {
    text += fmt::format("  {} {},\n", name, type<T>());
  }
  template <class T>
  static std::string type() {
    if constexpr (std::is_same_v<T, double>) return "REAL";  // NULL: not finite
    if constexpr (std::is_integral_v<T>) return "INTEGER NOT NULL";
    if constexpr (std::is_same_v<T, std::optional<std::int64_t>>) return "INTEGER";
    if constexpr (std::is_same_v<T, std::optional<ResourceRecord>>) return "TEXT";
    if constexpr (std::is_same_v<T, std::vector<double>>) return "BLOB NOT NULL";
    return "TEXT NOT NULL";
  }
};

template <class Record>
std::string create_table(const char* constraints) {
  ColumnDefinitions columns;
  Record record;
  visit_all(record, columns);
  return fmt::format("CREATE TABLE {}(\n  id INTEGER PRIMARY KEY,\n{}  crc INTEGER NOT NULL{}) STRICT;\n",
                     kTable<Record>, columns.text, constraints);
}

/// tests/cache/schema_10.sql shows it. Two indices find each quarantined row, so that one flipped bit cannot hide it.
/// Nothing uses the column first_size.
std::string wisdom_schema() {
  return create_table<SessionRecord>(",\n  UNIQUE(session)") +
         create_table<StoredTrial>(
             ",\n  UNIQUE(of, trial),\n  FOREIGN KEY(of) REFERENCES session(session) DEFERRABLE INITIALLY DEFERRED") +
         create_table<BestRecord>(
             ",\n  first_size INTEGER AS (CAST(substr(sizes, instr(sizes, '=') + 1) AS INTEGER)), place INTEGER") +
         create_table<QuarantineRecord>(", place INTEGER") +
         "CREATE INDEX session_problem ON session(kernel, choices, sizes);\n"
         "CREATE INDEX trial_configuration ON trial(of, configuration);\n"
         "CREATE INDEX best_problem ON best(kernel, choices, sizes);\n" +
         create_table<MissRecord>("") +
         "CREATE INDEX best_rule ON best(kernel, choices, objective, key, source) WHERE rule <> '';\n"
         "CREATE INDEX best_place ON best(kernel, choices, objective, compute_capability, sm_count, key, source, "
         "place);\n"
         "CREATE INDEX quarantine_configuration ON quarantine(quarantined, kernel, source, device_key, place);\n"
         "CREATE INDEX quarantine_device ON quarantine(device_key, source, kernel, quarantined, place);\n"
         "CREATE INDEX miss_problem ON miss(kernel, choices, sizes_from, device_key);\n";
}

/// The last version before this one, and the column and the index that `best` had not. Its files can be read.
constexpr int kReadableVersion = 9;
constexpr std::string_view kNewColumn = "  rule TEXT NOT NULL,\n", kNewIndex = "best_rule";
static_assert(kReadableVersion == kSchemaVersion - 1);

/// Name and SQL text of the tables and indices.
std::map<std::string, std::string> definitions(SQLite::Database& db) {
  SQLite::Statement query(db, "SELECT name, coalesce(sql, '') FROM sqlite_schema");
  std::map<std::string, std::string> all;
  while (query.executeStep()) all.emplace(query.getColumn(0).getString(), query.getColumn(1).getString());
  return all;
}

/// The same, of this version.
const std::map<std::string, std::string>& wanted_definitions() {
  static const auto& all = *new std::map<std::string, std::string>([] {  // never destroyed: threads may use it at exit
    std::map<std::string, std::string> wanted;
    constexpr std::string_view kEnd = ";\n";
    const std::string schema = wisdom_schema();
    for (std::size_t begin = 0, end; (end = schema.find(kEnd, begin)) != std::string::npos; begin = end + kEnd.size()) {
      const std::string statement = schema.substr(begin, end - begin);  // CREATE TABLE best(…
      const std::size_t name = statement.find(' ', statement.find(' ') + 1) + 1;
      wanted.emplace(statement.substr(name, statement.find_first_of(" (", name) - name), statement);
    }
    return wanted;
  }());
  return all;
}

/// The oldest version that may read the file: the high 16 bits of user_version. The low ones are the version of the
/// file.
int oldest_reader_of(SQLite::Database& db) {
  const auto oldest = static_cast<int>(number(db, "PRAGMA user_version") >> 16);
  return oldest > 0 ? oldest : version_of(db);
}

/// A transaction for reading. SQLite::Transaction may leave it open when memory is short.
struct Snapshot {
  explicit Snapshot(SQLite::Database& of) : db(of) { db.exec("BEGIN"); }
  ~Snapshot() { rollback(&db); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  SQLite::Database& db;
};

}  // namespace

int version_of(SQLite::Database& db) { return static_cast<int>(number(db, "PRAGMA user_version") & 0xffff); }

Contents inspect(SQLite::Database& db) {
  // One snapshot: another process may be creating the file, and a half-written one would look foreign.
  std::optional<Snapshot> snapshot;
  if (sqlite3_get_autocommit(db.getHandle()) != 0) snapshot.emplace(db);
  const auto application = number(db, "PRAGMA application_id");
  const int version = version_of(db);
  // The definitions of a newer file may use SQL that this SQLite does not know. They are read only without a version.
  if (application == 0 && version == 0 && number(db, "SELECT count(*) FROM sqlite_schema") == 0) {
    return Contents::empty;
  }
  if (application != kApplicationId || version < 1) return Contents::foreign;
  if (version < kSchemaVersion) return Contents::older;
  if (oldest_reader_of(db) > kSchemaVersion) return Contents::newer;
  return word(db, "PRAGMA encoding") == "UTF-8" ? Contents::ours : Contents::foreign;
}

bool read_as_this_version(SQLite::Database& db) {
  if (version_of(db) != kReadableVersion) return false;
  db.exec("CREATE TEMP VIEW best AS SELECT *, '' AS rule FROM main.best");
  return true;
}

std::string other_version(SQLite::Database& db) {
  const int version = version_of(db);
  if (version > kSchemaVersion) {
    return fmt::format("it was written by a newer tuner (format {}, this one reads {})", version, kSchemaVersion);
  }
  if (version == kReadableVersion)
    return fmt::format(
        "it was written by an older tuner (format {}, this one writes {}); `tune db import FILE` reads it", version,
        kSchemaVersion);
  return fmt::format(
      "it was written by an older tuner (format {}, this one reads {}). Write its results to a file with that tuner's "
      "`tune export --all --db FILE`, and read that file with `tune db import`",
      version, kSchemaVersion);
}

void create(SQLite::Database& db) {
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  if (inspect(db) == Contents::empty) {  // another process may have been faster
    db.exec(wisdom_schema());
    db.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                        kSchemaVersion << 16 | kSchemaVersion));
  }
  transaction.commit();
}

std::vector<std::string> wrong_definitions(SQLite::Database& db) {
  std::vector<std::string> wrong;
  if (version_of(db) > kSchemaVersion) return wrong;
  const auto present = definitions(db);
  const bool is_older = version_of(db) == kReadableVersion;
  for (auto [name, text] : wanted_definitions()) {
    if (is_older && name == kNewIndex) continue;
    if (is_older && name == kTable<BestRecord>) text.erase(text.find(kNewColumn), kNewColumn.size());
    const auto at = present.find(name);
    if (at == present.end())
      wrong.push_back(fmt::format("table or index '{}' is missing", name));
    else if (at->second != text)
      wrong.push_back(fmt::format("table or index '{}' is not defined as tuner defines it", name));
  }
  return wrong;
}

bool has_its_definitions(SQLite::Database& db) { return wrong_definitions(db).empty(); }

Finding examine(SQLite::Database& db, const std::filesystem::path& file) try {
  const Contents contents = inspect(db);
  if (contents == Contents::foreign) return Finding::foreign;
  if (contents != Contents::ours) return Finding::sound;
  const bool intact = has_its_definitions(db) && word(db, "PRAGMA integrity_check(1)") == "ok" &&
                      word(db, "PRAGMA foreign_key_check").empty();
  return intact ? Finding::sound : Finding::damaged;
} catch (const SQLite::Exception& error) {
  require_memory(error);
  const bool unknown = is_passing(error, file) || (error.getErrorCode() & 0xff) == SQLITE_INTERRUPT;
  return unknown ? Finding::unknown : Finding::damaged;
}

Finding examine_twice(const std::filesystem::path& file, std::chrono::milliseconds patience) try {
  constexpr std::chrono::minutes kLongest{1};
  Patience wait(patience);
  wait.work_ends = cpu_time() + kLongest;
  // SQLite would roll back, and delete, the journal of whoever writes to a new file of this name.
  const FolderLock unreplaced(file.parent_path(), LOCK_SH, patience);
  const FileStamp before = real_disk().stamp_of(file);
  if (before == FileStamp{}) return Finding::sound;  // moved away by another process
  if (before.bytes > kMaxCopiedBytes) return Finding::unknown;
  const Finding fresh = examine(*connect(file, SQLite::OPEN_READWRITE, wait), file);
  if (fresh == Finding::sound || fresh == Finding::unknown) return fresh;
  const auto bytes = bytes_of_file(file, 0, kMaxCopiedBytes);
  if (!bytes || real_disk().stamp_of(file) != before) return Finding::unknown;
  const auto copy = connect_bytes(*bytes);
  limit_work(*copy, wait);
  return examine(*copy, file) == fresh ? fresh : Finding::unknown;
} catch (const SQLite::Exception& error) {
  require_memory(error);
  return Finding::unknown;
}

}  // namespace tuner::cache
