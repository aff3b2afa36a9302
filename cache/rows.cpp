#include <cache/rows.hpp>

#include <algorithm>

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

}  // namespace

std::string wisdom_schema() {
  return create_table<SessionRecord>(",\n  UNIQUE(session)") +
         create_table<StoredTrial>(
             ",\n  UNIQUE(of, trial),\n  FOREIGN KEY(of) REFERENCES session(session) DEFERRABLE INITIALLY DEFERRED") +
         create_table<BestRecord>(  // versions 4 and 5 use the first size
             ",\n  first_size INTEGER AS (CAST(substr(sizes, instr(sizes, '=') + 1) AS INTEGER))") +
         create_table<QuarantineRecord>("") +
         "CREATE INDEX session_problem ON session(kernel, choices, sizes);\n"
         "CREATE INDEX trial_configuration ON trial(of, configuration);\n"
         "CREATE INDEX best_problem ON best(kernel, choices, sizes);\n"
         "CREATE INDEX best_near ON best(kernel, choices, first_size);\n";
}

std::vector<std::string> wisdom_additions() {
  // Rows that earlier versions add to an upgraded file have no place (places.hpp). Two indices find each quarantined
  // row, so that one flipped bit cannot hide it.
  return {create_table<MissRecord>(""),
          "ALTER TABLE best ADD COLUMN place INTEGER;\n"
          "ALTER TABLE quarantine ADD COLUMN place INTEGER;\n"
          "UPDATE best SET place = tuner_place(sizes);\n"
          "UPDATE quarantine SET place = tuner_place(sizes);\n"
          "DROP INDEX best_near;\n"
          "CREATE INDEX best_place ON best(kernel, choices, objective, compute_capability, sm_count, key, source, "
          "place);\n"
          "CREATE INDEX quarantine_configuration ON quarantine(quarantined, kernel, source, device_key, place);\n"
          "CREATE INDEX quarantine_device ON quarantine(device_key, source, kernel, quarantined, place);\n"
          "CREATE INDEX miss_problem ON miss(kernel, choices, sizes_from, device_key);\n"};
}

namespace {

std::int64_t version_of_file(Store& store) {
  Query row(store, "PRAGMA user_version");
  return row.next() ? row.integer() & 0xffff : 0;
}

}  // namespace

bool has_misses(Store& store) { return version_of_file(store) >= 5; }
bool has_places(Store& store) { return version_of_file(store) >= 6; }

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
           "created > ?, created DESC, id DESC";  // a date in the future ranks as old
  }();
  Query row(store, sql);
  visit_context(best, Binder{row});
  row.bind(best.configuration);
  row.bind(now_ms());
  while (row.next()) {
    StoredTrial found;
    if (take(row, found) && found.trial.configuration == best.configuration) return found;
  }
  return std::nullopt;
}

namespace {
constexpr const char* kMaybeQuarantined =
    "may be quarantined on this device: that row of the database is damaged (see `tune db check`)";
}

bool Quarantine::may_be_in(Store& store) {
  static const std::string& any = *new std::string(
      "SELECT 1 WHERE EXISTS(SELECT 1 FROM quarantine INDEXED BY quarantine_configuration WHERE quarantined >= '') "
      "OR EXISTS(SELECT 1 FROM quarantine INDEXED BY quarantine_device WHERE device_key >= '')");
  if (const auto at = known_.find(&store); at != known_.end()) return at->second;
  return !store.read([&] {
    const bool empty = has_places(store) && !Query(store, any).next();
    known_[&store] = !empty;
    return empty;
  });
}

std::optional<std::string> Quarantine::reason_against(Store& store, const std::string& configuration) {
  const auto select = [](const char* index, const char* condition) {
    return fmt::format("{}{} WHERE quarantined = ?1 AND device_key = ?2 AND kernel = ?3 AND source = ?4{}",
                       select_all<QuarantineRecord>(), index, condition);
  };
  const auto by = [&](const std::string& index) {
    return new std::string(select(index.c_str(), " AND place BETWEEN ?5 AND ?6") + " UNION ALL " +
                           select(index.c_str(), " AND place IS NULL"));
  };
  static const std::string *const by_configuration = by(" INDEXED BY quarantine_configuration"),
                                  *const by_device = by(" INDEXED BY quarantine_device"),
                                  *const of_earlier_version = new std::string(select("", " AND coalesce(?5, ?6, 1)"));
  if (!store.usable() || !may_be_in(store)) return std::nullopt;
  std::optional<std::string> reason = kMaybeQuarantined;  // if nothing can be read
  store.read([&] {
    reason.reset();
    const bool placed = has_places(store);
    for (const auto& problem : problems_) {
      if (!reason) reason = found(store, placed ? *by_configuration : *of_earlier_version, configuration, problem);
      if (!reason && placed) reason = found(store, *by_device, configuration, problem);
    }
    return true;
  });
  return reason;
}

std::optional<std::string> Quarantine::found(Store& store, const std::string& sql, const std::string& configuration,
                                             const ProblemRecord& problem) const {
  Query row(store, sql, configuration, device_key_, kernel_.name, kernel_.source_hash);
  const auto [first, last] = places_near(problem.sizes);
  row.bind(first);
  row.bind(last);
  while (row.next()) {
    QuarantineRecord record;
    if (!take(row, record)) {
      // A part of a record that names a dangerous configuration was changed: all that it may have meant are skipped.
      warn_of_damaged_rows(store);
      return kMaybeQuarantined;
    }
    if (record.device_key == device_key_ && record.kernel == kernel_ && record.configuration == configuration &&
        alike(record.problem, problem))
      return "quarantined on this device: " + record.reason;
  }
  return std::nullopt;
}

}  // namespace tuner::cache
