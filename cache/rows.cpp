#include <cache/rows.hpp>

#include <algorithm>

namespace tuner::cache {
namespace {

/// `a TEXT NOT NULL, b REAL`: the columns of the fields.
struct ColumnDefinitions {
  std::string text;

  template <class T>
  void operator()(const char* name, const T&, unsigned) {
    text += fmt::format("  {} {},\n", name, type<T>());
  }
  template <class T>
  static std::string type() {
    if constexpr (std::is_same_v<T, double>) return "REAL";  // absent: no number
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

}  // namespace

std::string wisdom_schema() {
  return create_table<SessionRecord>(",\n  UNIQUE(session)") +
         create_table<StoredTrial>(
             ",\n  UNIQUE(of, trial),\n  FOREIGN KEY(of) REFERENCES session(session) DEFERRABLE INITIALLY DEFERRED") +
         // The first size bounds the search for near ones.
         create_table<BestRecord>(
             ",\n  first_size INTEGER AS (CAST(substr(sizes, instr(sizes, '=') + 1) AS INTEGER))") +
         create_table<QuarantineRecord>("") +
         "CREATE INDEX session_problem ON session(kernel, choices, sizes);\n"
         "CREATE INDEX trial_configuration ON trial(of, configuration);\n"
         "CREATE INDEX best_problem ON best(kernel, choices, sizes);\n"
         "CREATE INDEX best_near ON best(kernel, choices, first_size);\n" +
         misses_schema();
}

std::string misses_schema() { return create_table<MissRecord>(""); }

bool has_misses(Store& store) { return version_of(store.connection()).written >= 5; }

void warn_of_damaged_rows(Store& store) {
  if (store.kind().frozen) throw DamagedRows("rows of it are damaged");
  store.warn_once("rows", fmt::format("wisdom database {}: damaged rows were left out", store.display_path()));
}

std::vector<StoredTrial> stored_trials(Store& store, const std::string& uuid) {
  static const std::string sql = select_all<StoredTrial>() + " WHERE of = ? ORDER BY trial";
  return take_sound<StoredTrial>(store, Query(store, sql, uuid));
}

std::optional<StoredTrial> latest_measurement(Store& store, const BestRecord& best) {
  static const std::string sql = [&] {
    ColumnList context;
    visit_context(best, context);
    return select_all<StoredTrial>() + " WHERE of IN (SELECT session FROM session" + context.condition() +
           ") AND configuration = ? AND kind = 'ok' AND verified = 1 AND abandoned = 0 AND median_ns > 0 ORDER BY "
           "created DESC, id DESC";
  }();
  Query row(store, sql);
  visit_context(best, Binder{row});
  row.bind(best.configuration);
  while (row.next()) {
    StoredTrial found;
    if (take(row, found) && found.trial.configuration == best.configuration) return found;
  }
  return std::nullopt;
}

namespace {
constexpr const char* kMaybeQuarantined =
    "may be quarantined on this device: that row of the database is damaged (see `tune cache doctor`)";
}

void Quarantine::add(Store& store) {
  Query row(store, select_all<QuarantineRecord>());
  while (row.next()) {
    QuarantineRecord record;
    const bool sound = take(row, record);
    const bool near =
        std::any_of(problems_.begin(), problems_.end(), [&](auto& p) { return alike(record.problem, p); });
    const int same = (record.device_key == device_key_) + (record.kernel == kernel_) + near;
    if (sound && same == 3) reasons_.emplace(record.configuration, "quarantined on this device: " + record.reason);
    if (sound) continue;
    warn_of_damaged_rows(store);
    // One part of it has been changed. The configuration that it names is passed over, and no other: a result for each
    // would be in vain.
    if (same >= 2) reasons_.emplace(record.configuration, kMaybeQuarantined);
  }
}

std::optional<std::string> Quarantine::reason_against(const std::string& configuration) const {
  if (const auto found = reasons_.find(configuration); found != reasons_.end()) return found->second;
  return std::nullopt;
}

}  // namespace tuner::cache
