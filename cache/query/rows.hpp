#pragma once
/// Converts records to rows and back, with checksums: a table for each kind of record, a column for each field.
/// Everything here runs inside Store::read() or Store::write(). Private to this room.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <cache/query/places.hpp>
#include <cache/query/store.hpp>
#include <cache/records/json.hpp>
#include <cache/records/json_fields.hpp>
#include <cache/records/record_checks.hpp>
#include <cache/records/sha256.hpp>

namespace tuner::cache {

static_assert(std::endian::native == std::endian::little, "samples are stored as they are in memory");

template <class Record>
inline constexpr const char* kTable = std::is_same_v<Record, BestRecord>         ? "best"
                                      : std::is_same_v<Record, SessionRecord>    ? "session"
                                      : std::is_same_v<Record, StoredTrial>      ? "trial"
                                      : std::is_same_v<Record, QuarantineRecord> ? "quarantine"
                                      : std::is_same_v<Record, MissRecord>       ? "miss"
                                                                                 : nullptr;

/// Whether rows are found by the place of their sizes (places.hpp).
template <class Record>
inline constexpr bool kHasPlace = std::is_same_v<Record, BestRecord> || std::is_same_v<Record, QuarantineRecord>;

// ---- visitors ------------------------------------------------------------------------------------------------------

/// `a, b, c` and `?, ?, ?`: the columns of the fields and their placeholders.
struct ColumnList {
  std::string names, marks;

  template <class T>
  void operator()(const char* name, const T&, unsigned) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    marks += marks.empty() ? "?" : ", ?";
  }
  std::string condition() const { return " WHERE (" + names + ") = (" + marks + ")"; }
};

/// Binds each field to the next placeholder.
struct Binder {
  Query& query;

  template <class T>
  void operator()(const char*, const T& field, unsigned) {
    if constexpr (std::is_same_v<T, double>) {
      query.bind(std::isfinite(field) ? std::optional(field) : std::nullopt);
    } else if constexpr (std::is_same_v<T, Sizes>) {
      query.bind(sizes_text(field));
    } else if constexpr (std::is_same_v<T, std::map<std::string, double>>) {
      query.bind(LineWriter::text_of(field));
    } else if constexpr (std::is_same_v<T, std::optional<ResourceRecord>>) {
      query.bind(field ? std::optional(LineWriter::text_of(*field)) : std::nullopt);
    } else {
      query.bind(field);
    }
  }
};

/// Reads each field from the next column.
struct Taker {
  Query& row;
  bool good = true;  ///< false: a column holds something that is never written there

  template <class T>
  void operator()(const char* name, T& field, unsigned how) {
    if constexpr (std::is_same_v<T, std::string>) {
      field = row.text();
    } else if constexpr (std::is_same_v<T, double>) {
      field = row.real();
    } else if constexpr (std::is_integral_v<T>) {
      field = static_cast<T>(row.integer());
    } else if constexpr (std::is_same_v<T, Sizes>) {
      auto parsed = parse_sizes(row.text());
      good = good && parsed.has_value();
      if (parsed) field = std::move(*parsed);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      const auto bytes = row.text();
      field.resize(bytes.size() / sizeof(double));
      if (!field.empty()) std::memcpy(field.data(), bytes.data(), field.size() * sizeof(double));
    } else if constexpr (requires { field.has_value(); }) {
      row.null() ? row.skip() : (*this)(name, field.emplace(), how);
    } else {
      try {
        JsonReader::set(field, read_json_or_nothing(row.text()).value_or(JsonValue{std::string("not JSON")}), name);
      } catch (const MemberError&) {
        good = false;
      }
    }
  }
};

/// The record as a line of JSON, without fields that have any flag of \p without.
template <class Record>
std::string line_of(const Record& record, unsigned without = kPlain) {
  LineWriter line(without);
  visit_all(record, line);
  return line.line();
}

/// CRC-32 of a record, written as in a text, without remarks.
template <class Record>
std::int64_t checksum(const Record& record) {
  return crc32(line_of(record, kRemark));
}

// ---- rows ----------------------------------------------------------------------------------------------------------

/// The SQL text for a kind of record.
template <class Record>
struct Statements {
  std::string select;  ///< `SELECT … FROM TABLE` for take(); the caller appends conditions
  std::string same;    ///< ` WHERE (…) = (?…)` over the columns that identify a record
  std::string stored = {}, remove = {}, insert = {};
};

/// Made once and never destroyed: threads may use it at exit.
template <class Record>
const Statements<Record>& statements() {
  static const auto& sql = *new Statements<Record>([] {
    ColumnList columns, identity;
    Record record;
    visit_all(record, columns);
    visit_identity(record, identity);
    constexpr const char* table = kTable<Record>;
    constexpr bool counts = std::is_same_v<Record, SessionRecord>;
    Statements<Record> made{
        .select = fmt::format("SELECT {}, crc{} FROM {}", columns.names,
                              counts ? ", (SELECT count(*) FROM trial WHERE of = session)" : "", table),
        .same = identity.condition()};
    made.stored = made.select + made.same;
    made.remove = fmt::format("DELETE FROM {}{}", table, made.same);
    made.insert = fmt::format("INSERT INTO {}({}, crc{}) VALUES({}, ?{})", table, columns.names,
                              kHasPlace<Record> ? ", place" : "", columns.marks, kHasPlace<Record> ? ", ?" : "");
    return made;
  }());
  return sql;
}

/// Returns false when the checksum is wrong or a field may not be stored. Anybody can compute a checksum.
template <class Record>
bool take(Query& row, Record& record) {
  Taker taker{row};
  visit_all(record, taker);
  bool sound = row.integer() == checksum(record) && taker.good;
  if constexpr (requires { record.trial; }) {
    sound = sound && !problem_with(record.trial);
  } else {
    sound = sound && !problem_with(record);
  }
  if constexpr (requires { record.trials; }) record.trials = row.integer();
  return sound;
}

/// Warns once for all damaged rows of a file.
void warn_of_damaged_rows(Store& store);

/// All sound records of \p row; warns of the others.
template <class Record>
std::vector<Record> take_sound(Store& store, Query&& row) {
  std::vector<Record> found;
  while (row.next()) {
    if (Record record; take(row, record)) {
      found.push_back(std::move(record));
    } else {
      warn_of_damaged_rows(store);
    }
  }
  return found;
}

/// The stored record with the identity of \p record; nullopt also for a damaged one, which may be replaced.
template <class Record>
std::optional<Record> stored(Store& store, const Record& record) {
  Query row(store, statements<Record>().stored);
  visit_identity(record, Binder{row});
  Record found;
  return row.next() && take(row, found) ? std::optional(std::move(found)) : std::nullopt;
}

/// Removes the stored record with the identity of \p record.
template <class Record>
void remove(Store& store, const Record& record) {
  Query row(store, statements<Record>().remove);
  visit_identity(record, Binder{row});
  row.run();
}

/// Adds \p record and replaces one with the same identity.
template <class Record>
void put(Store& store, const Record& record) {
  remove(store, record);
  Query row(store, statements<Record>().insert);
  visit_all(record, Binder{row});
  row.bind(checksum(record));
  if constexpr (kHasPlace<Record>) row.bind(place_of(record.problem.sizes));
  row.run();
}

/// The undamaged trials of a session, in order; warns of the others.
std::vector<StoredTrial> stored_trials(Store& store, const std::string& uuid);
/// The latest verified, finished measurement of \p best's configuration in its context, from any session.
std::optional<StoredTrial> latest_measurement(Store& store, const BestRecord& best);

/// The quarantine of a device for a kernel and any of some problems.
class Quarantine {
 public:
  Quarantine(std::string device_key, KernelRecord kernel, std::vector<ProblemRecord> problems)
      : device_key_(std::move(device_key)), kernel_(std::move(kernel)), problems_(std::move(problems)) {}
  /// Whether \p store may have any quarantine; most have none. Reads it the first time.
  bool may_be_in(Store& store);
  /// Why the quarantine in \p store forbids \p configuration; nullopt when it does not. Reads only its rows.
  std::optional<std::string> reason_against(Store& store, const std::string& configuration);

 private:
  std::optional<std::string> found(Store& store, const std::string& sql, const std::string& configuration,
                                   const ProblemRecord& problem) const;

  const std::string device_key_;
  const KernelRecord kernel_;
  const std::vector<ProblemRecord> problems_;
  std::map<const Store*, bool> known_;
};

}  // namespace tuner::cache
