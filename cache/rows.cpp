#include <cache/rows.hpp>

#include <bit>
#include <cmath>
#include <cstring>

#include <cache/checksum.hpp>
#include <cache/json_fields.hpp>

namespace tuner::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are stored as they are in memory");

// ---- visitors ------------------------------------------------------------------------------------------------------

/// `a, b, c`: the columns of the fields.
struct ColumnList {
  std::string text;
  bool shared = true;  ///< with those that stand in tables of their own

  template <class T>
  void operator()(const char* name, const T&, unsigned how) {
    if ((how & kShared) != 0 && !shared) return;
    if (!text.empty()) text += ", ";
    text += name;
  }
};

template <class Record>
std::string own_columns() {
  Record record;
  ColumnList columns{{}, false};
  visit_fields(record, columns);
  return columns.text;
}

template <class Record>
std::string all_columns() {
  Record record;
  ColumnList columns;
  visit_all(record, columns);
  return columns.text;
}

/// Binds the fields that stand in the record's own table.
struct Binder {
  Query& query;

  template <class T>
  void operator()(const char*, const T& field, unsigned how) {
    if ((how & kShared) == 0) bind(field);
  }
  void bind(double number) { query.bind(std::isfinite(number) ? std::optional(number) : std::nullopt); }
  void bind(const Sizes& sizes) { query.bind(sizes_text(sizes)); }
  void bind(const std::vector<double>& samples) {
    query.bind(Blob{{reinterpret_cast<const char*>(samples.data()), samples.size() * sizeof(double)}});
  }
  void bind(const std::map<std::string, double>& numbers) { query.bind(dump(JsonWriter::json_of(numbers))); }
  void bind(const std::optional<ResourceRecord>& resources) {
    query.bind(resources ? std::optional(dump(JsonWriter::json_of(*resources))) : std::nullopt);
  }
  template <class T>
  void bind(const T& field) {
    query.bind(field);
  }
};

/// Reads the fields from the columns of a ColumnList.
struct Taker {
  Query& row;
  bool good = true;  ///< false: a column does not hold what was written there

  template <class T>
  void operator()(const char*, T& field, unsigned) {
    take(field);
  }
  void take(std::string& text) { text = row.text(); }
  void take(double& number) { number = row.real(); }
  void take(bool& flag) { flag = row.integer() != 0; }
  void take(int& number) { number = row.small(); }
  void take(std::int64_t& number) { number = row.integer(); }
  void take(std::uint64_t& number) { number = static_cast<std::uint64_t>(row.integer()); }
  void take(Sizes& sizes) {
    auto parsed = parse_sizes(row.text());
    good = good && parsed.has_value();
    if (parsed) sizes = std::move(*parsed);
  }
  void take(std::vector<double>& samples) {
    const auto bytes = row.text();
    samples.resize(bytes.size() / sizeof(double));
    if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(double));
  }
  void take(std::map<std::string, double>& numbers) { parse(row.text(), numbers); }
  void take(ResourceRecord& resources) { parse(row.text(), resources); }
  template <class T>
  void take(std::optional<T>& field) {
    if (row.null()) return row.skip();
    take(field.emplace());
  }

 private:
  template <class T>
  void parse(const std::string& text, T& field) {
    try {
      JsonReader::set(field, Json::parse(text, nullptr, false), "");
    } catch (const MemberError&) {
      good = false;
    }
  }
};

/// CRC-32 of all that a record says, spelt out as in a text.
template <class Record>
std::int64_t checksum(const Record& record) {
  Json line;
  visit_all(record, JsonWriter(line, kRemark));
  return crc32(dump(line));
}

template <class Record>
bool take_all(Query& row, Record& record) {
  Taker taker{row};
  visit_all(record, taker);
  return row.integer() == checksum(record) && taker.good;
}

// ---- statements ----------------------------------------------------------------------------------------------------

/// `?,?,?`: one for each column.
std::string marks(const std::string& columns) {
  std::string text = "?";
  for (const char c : columns) text += c == ',' ? ",?" : "";
  return text;
}

std::string insert_into(const std::string& table, const std::string& columns) {
  return "INSERT INTO " + table + "(" + columns + ") VALUES(" + marks(columns) + ")";
}

/// Runs insert_into(): \p ids first, then the record's own fields, then \p last.
template <class Record, class... Ids, class... Last>
void insert(Statements& store, const std::string& sql, const Record& record, const std::tuple<Ids...>& ids,
            const Last&... last) {
  Query query(store, sql);
  std::apply([&](const auto&... id) { (query.bind(id), ...); }, ids);
  visit_fields(record, Binder{query});
  (query.bind(last), ...);
  query.run();
}

/// The id of the row of \p table whose fields are those of \p record.
template <class Record>
std::optional<std::int64_t> find_row(Statements& store, const char* table, const Record& record) {
  static const std::string sql =
      fmt::format("SELECT id FROM {0} WHERE ({1}) = ({2})", table, own_columns<Record>(), marks(own_columns<Record>()));
  Query query(store, sql);
  visit_fields(record, Binder{query});
  return query.next() ? std::optional(query.integer()) : std::nullopt;
}

/// The same, added when it is not there.
template <class Record>
std::int64_t ensure_row(Statements& store, const char* table, const Record& record) {
  if (const auto id = find_row(store, table, record)) return *id;
  static const std::string add = insert_into(table, own_columns<Record>());
  insert(store, add, record, {});
  return store.connection().getLastInsertRowid();
}

std::optional<std::int64_t> first(Query query) { return query.next() ? std::optional(query.integer()) : std::nullopt; }

std::int64_t inserted(Statements& store) { return store.connection().getLastInsertRowid(); }

std::int64_t ensure_configuration(Statements& store, const std::string& text) {
  if (const auto id = first(Query(store, "SELECT id FROM configuration WHERE configuration = ?", text))) return *id;
  Query(store, "INSERT INTO configuration(configuration) VALUES(?)", text).run();
  return inserted(store);
}

/// ` FROM TABLE ALIAS JOIN …` with the identities that a row of it refers to.
std::string from_with_identities(const char* table, const char* alias) {
  return fmt::format(
      " FROM {0} {1} JOIN kernel k ON k.id = {1}.kernel_id JOIN device d ON d.id = {1}.device_id JOIN environment e ON "
      "e.id = {1}.environment_id JOIN problem p ON p.id = {1}.problem_id",
      table, alias);
}

}  // namespace

const std::string& best_columns() {
  static const std::string columns = all_columns<BestRecord>() + ", b.crc";
  return columns;
}

const std::string& select_best() {
  static const std::string sql = "SELECT " + best_columns() + from_with_identities("best", "b") +
                                 " JOIN configuration c ON c.id = b.configuration_id";
  return sql;
}

const std::string& select_sessions() {
  static const std::string sql = "SELECT " + all_columns<SessionRecord>() +
                                 ", s.crc, (SELECT count(*) FROM trial WHERE session_id = s.id)" +
                                 from_with_identities("session", "s");
  return sql;
}

const std::string& select_trials() {
  static const std::string sql = [] {
    StoredTrial trial;
    ColumnList columns;
    visit_fields(trial, columns);
    return "SELECT s.session, " + columns.text +
           ", t.crc FROM trial t JOIN session s ON s.id = t.session_id JOIN configuration c ON c.id = "
           "t.configuration_id";
  }();
  return sql;
}

const std::string& select_quarantine() {
  // What is missing is read as empty: the checksum tells.
  static const std::string sql =
      "SELECT " + all_columns<QuarantineRecord>() +
      ", q.crc FROM quarantine q LEFT JOIN kernel k ON k.id = q.kernel_id LEFT JOIN (SELECT id, configuration AS "
      "quarantined FROM configuration) c ON c.id = q.configuration_id";
  return sql;
}

bool take(Query& row, BestRecord& best) { return take_all(row, best); }
bool take(Query& row, QuarantineRecord& record) { return take_all(row, record); }

bool take(Query& row, SessionRecord& session) {
  const bool sound = take_all(row, session);
  session.trials = row.integer();
  return sound;
}

bool take(Query& row, StoredTrial& trial) {
  trial.session = row.text();
  Taker taker{row};
  visit_fields(trial, taker);
  return row.integer() == checksum(trial) && taker.good;
}

// ---- identities ----------------------------------------------------------------------------------------------------

double log2_first(const Sizes& sizes) {
  if (sizes.empty()) return 0;
  const auto value = sizes.begin()->second;
  return value == 0 ? -2 : std::log2(static_cast<double>(value));
}

std::int64_t ensure_device(Statements& store, DeviceRecord& device) {
  static const std::string add = insert_into("device", own_columns<DeviceRecord>()) + " ON CONFLICT DO NOTHING";
  insert(store, add, device, {});
  static const std::string known = "SELECT " + own_columns<DeviceRecord>() + ", id FROM device WHERE key = ?";
  Query row(store, known, device.key);
  row.next();
  DeviceRecord stored;
  visit_fields(stored, Taker{row});
  stored.name = std::move(device.name);
  stored.properties = std::move(device.properties);
  device = std::move(stored);
  return row.integer();
}

std::int64_t ensure_environment(Statements& store, const EnvironmentRecord& environment) {
  return ensure_row(store, "environment", environment);
}

std::int64_t ensure_kernel(Statements& store, const KernelRecord& kernel) {
  return ensure_row(store, "kernel", kernel);
}

std::int64_t ensure_problem(Statements& store, const ProblemRecord& problem) {
  if (const auto id = find_row(store, "problem", problem)) return *id;
  static const std::string add = insert_into("problem", "log2_first, " + own_columns<ProblemRecord>());
  insert(store, add, problem, std::tuple(log2_first(problem.sizes)));
  return inserted(store);
}

// ---- results -------------------------------------------------------------------------------------------------------

void put_best(Statements& store, BestRecord best) {
  const auto device = ensure_device(store, best.device);
  const auto kernel = ensure_kernel(store, best.kernel);
  const auto problem = ensure_problem(store, best.problem);
  const auto environment = ensure_environment(store, best.environment);
  const auto configuration = ensure_configuration(store, best.configuration);
  Query(store, "DELETE FROM best WHERE device_id = ? AND kernel_id = ? AND problem_id = ? AND environment_id = ?",
        device, kernel, problem, environment)
      .run();
  static const std::string add =
      insert_into("best", "device_id, kernel_id, problem_id, environment_id, configuration_id, " +
                              own_columns<BestRecord>() + ", crc");
  insert(store, add, best, std::tuple(device, kernel, problem, environment, configuration), checksum(best));
}

std::int64_t ensure_session(Statements& store, SessionRecord s, bool* added) {
  if (added != nullptr) *added = false;
  if (const auto id = first(Query(store, "SELECT id FROM session WHERE session = ?", s.uuid))) return *id;
  const auto device = ensure_device(store, s.key.device);
  const auto kernel = ensure_kernel(store, s.key.kernel);
  const auto problem = ensure_problem(store, s.key.problem);
  const auto environment = ensure_environment(store, s.key.environment);
  static const std::string add = insert_into(
      "session", "device_id, kernel_id, problem_id, environment_id, " + own_columns<SessionRecord>() + ", crc");
  insert(store, add, s, std::tuple(device, kernel, problem, environment), checksum(s));
  if (added != nullptr) *added = true;
  return inserted(store);
}

bool put_trial(Statements& store, std::int64_t session_id, const StoredTrial& trial) {
  static const std::string add =
      insert_into("trial", "session_id, configuration_id, " + own_columns<StoredTrial>() + ", crc") +
      " ON CONFLICT(session_id, trial) DO NOTHING";
  insert(store, add, trial, std::tuple(session_id, ensure_configuration(store, trial.trial.configuration)),
         checksum(trial));
  return store.connection().getChanges() > 0;
}

bool put_quarantine(Statements& store, const QuarantineRecord& record) {
  const auto kernel = ensure_kernel(store, record.kernel);
  const auto configuration = ensure_configuration(store, record.configuration);
  static const std::string one = " WHERE q.device_key = ? AND q.kernel_id = ? AND q.configuration_id = ?";
  {
    static const std::string sql = select_quarantine() + one;
    Query row(store, sql, record.device_key, kernel, configuration);
    QuarantineRecord known;
    if (row.next() && take(row, known) &&
        std::tie(known.created_ms, known.reason) <= std::tie(record.created_ms, record.reason)) {
      return false;
    }
  }
  static const std::string remove = "DELETE FROM quarantine AS q" + one;
  Query(store, remove, record.device_key, kernel, configuration).run();
  static const std::string add =
      insert_into("quarantine", "kernel_id, configuration_id, " + own_columns<QuarantineRecord>() + ", crc");
  insert(store, add, record, std::tuple(kernel, configuration), checksum(record));
  return true;
}

std::vector<StoredTrial> stored_trials(Store& store, const std::string& uuid) {
  static const std::string sql = select_trials() + " WHERE s.session = ? ORDER BY t.trial";
  return take_sound<StoredTrial>(store, Query(store, sql, uuid));
}

void warn_of_damaged_rows(Store& store) {
  store.warn_once("rows", fmt::format("wisdom database {}: damaged rows were left out", store.display_path()));
}

}  // namespace tuner::cache
