#include <cache/query/browse.hpp>

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <sqlite3.h>

#include <cache/query/rows.hpp>
#include <cache/query/schema.hpp>
#include <cache/query/store.hpp>

namespace tuner::cache {

namespace {

/// The records of a table that match a Filter.
template <class Record>
inline constexpr const char* kMatching =
    " WHERE (?1 = '' OR kernel = ?1) AND (?2 = '' OR device_key = ?2) AND (?3 = '' OR source = ?3)";
template <class Record>
requires requires(Record record) { context_of(record); }
inline constexpr const char* kMatching<Record> =
    " WHERE (?1 = '' OR kernel = ?1) AND (?2 = '' OR key = ?2) AND (?3 = '' OR source = ?3)";

/// The sound records that match \p filter. \p more: further conditions, and the order.
template <class Record>
std::vector<Record> listed(Database& database, const Filter& filter, const std::string& more = {}) {
  auto& store = database.store();
  return store.read([&] {
    const std::string sql = statements<Record>().select + kMatching<Record> + more;
    return take_sound<Record>(store, Query(store, sql, filter.kernel, filter.device_key, filter.source));
  });
}

/// Removes the records that match \p filter and \p more. Returns how many there were.
template <class Record, class... Arguments>
std::int64_t removed(Store& store, const Filter& filter, const char* more = "", const Arguments&... arguments) {
  const std::string sql = fmt::format("DELETE FROM {}{}{}", kTable<Record>, kMatching<Record>, more);
  return store.write([&store, filter, sql, arguments...] {
    Query(store, sql, filter.kernel, filter.device_key, filter.source, arguments...).run();
    return std::int64_t{store.connection().getChanges()};
  });
}

/// The problem has a result, and its last tuning, if any, was not cut short.
constexpr const char* kTunedMeanwhile =
    "EXISTS (SELECT 1 FROM best b WHERE (b.kernel, b.objective, b.choices, b.sizes, b.key) = (miss.kernel, "
    "miss.objective, miss.choices, miss.sizes, miss.device_key)) AND coalesce((SELECT s.finished IS NOT NULL FROM "
    "session s WHERE (s.kernel, s.objective, s.choices, s.sizes, s.key) = (miss.kernel, miss.objective, miss.choices, "
    "miss.sizes, miss.device_key) ORDER BY s.started DESC, s.id DESC LIMIT 1), 1)";

/// The stored miss with the calls of \p more added.
MissRecord added(MissRecord known, const MissRecord& more) {
  known.kernel = more.kernel;
  if (!more.file.empty()) known.file = more.file;
  known.served = more.served;
  known.calls += more.calls;
  if (more.each_ns > 0) known.each_ns = more.each_ns;
  known.first_ms = std::min(known.first_ms, more.first_ms);
  known.last_ms = std::max(known.last_ms, more.last_ms);
  return known;
}

}  // namespace

std::vector<KernelSummary> kernels(Database& database) {
  auto& store = database.store();
  return store.read([&] {
    std::vector<KernelSummary> found;
    Query row(
        store,
        "WITH k AS (SELECT kernel, source, objective FROM best UNION SELECT kernel, source, objective FROM session "
        "UNION SELECT kernel, source, objective FROM quarantine) SELECT k.kernel, k.source, k.objective, (SELECT "
        "count(DISTINCT choices || char(10) || sizes) FROM best b WHERE (b.kernel, b.source, b.objective) = "
        "(k.kernel, k.source, k.objective)), count(s.id), total((SELECT count(*) FROM trial WHERE of = s.session)) "
        "FROM k LEFT JOIN session s ON (s.kernel, s.source, s.objective) = (k.kernel, k.source, k.objective) "
        "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3");
    while (row.next()) {
      found.push_back({{row.text(), row.text(), row.text()}, row.integer(), row.integer(), row.integer()});
    }
    return found;
  });
}

std::vector<BestRecord> best_rows(Database& database, const Filter& filter) {
  auto found = listed<BestRecord>(database, filter);
  const auto key = [](const BestRecord& b) { return std::tie(b.device.key, b.environment, b.kernel, b.problem); };
  std::sort(found.begin(), found.end(), [&](const BestRecord& a, const BestRecord& b) { return key(a) < key(b); });
  return found;
}

std::string results_stamp(Database& database) {
  auto& store = database.store();
  return store.read([&] {
    // A changed row is removed and added again, so the last row of a table is the one that changed last.
    Query row(
        store,
        "SELECT (SELECT count(*) FROM best), (SELECT id FROM best ORDER BY id DESC LIMIT 1), (SELECT crc FROM best "
        "ORDER BY id DESC LIMIT 1), (SELECT count(*) FROM quarantine), (SELECT id FROM quarantine ORDER BY id "
        "DESC LIMIT 1), (SELECT crc FROM quarantine ORDER BY id DESC LIMIT 1)");
    std::string stamp;
    if (row.next())
      for (int i = 0; i < 6; ++i) stamp += std::to_string(row.integer()) + ' ';
    return stamp;
  });
}

std::vector<SessionRecord> sessions(Database& database, const Filter& filter) {
  auto found = listed<SessionRecord>(database, filter);
  std::sort(found.begin(), found.end(), [](const SessionRecord& a, const SessionRecord& b) {
    return std::tie(b.started_ms, a.uuid) < std::tie(a.started_ms, b.uuid);
  });
  return found;
}

std::vector<QuarantineRecord> quarantined(Database& database, const Filter& filter) {
  auto found = listed<QuarantineRecord>(database, filter);
  const auto key = [](const QuarantineRecord& q) {
    return std::tie(q.device_key, q.kernel.name, q.kernel.objective, q.kernel.source_hash, q.problem, q.configuration);
  };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return found;
}

bool has_quarantined(Database& database, const Filter& filter) {
  auto& store = database.store();
  return store.read([&] {
    const std::string sql = fmt::format("SELECT 1 FROM quarantine{} LIMIT 1", kMatching<QuarantineRecord>);
    return Query(store, sql, filter.kernel, filter.device_key, filter.source).next();
  });
}

std::int64_t lift_quarantine(Database& database, const Filter& filter, const std::string& configuration) {
  return removed<QuarantineRecord>(database.store(), filter, " AND (?4 = '' OR quarantined = ?4)", configuration);
}

void remember_misses(Database& database, const std::vector<MissRecord>& counted) {
  auto& store = database.store();
  const std::string tuned = "DELETE FROM miss" + statements<MissRecord>().same + " AND " + kTunedMeanwhile;
  const char* const surplus =
      "DELETE FROM miss WHERE (SELECT count(*) FROM miss) > ?1 AND id NOT IN (SELECT id FROM miss ORDER BY last_seen "
      "DESC, id DESC LIMIT ?1)";
  store.write([&store, counted, tuned, surplus] {
    for (const MissRecord& miss : counted) {
      if (problem_with(miss)) continue;
      const auto known = stored(store, miss);
      put(store, known ? added(*known, miss) : miss);
      Query done(store, tuned);
      visit_identity(miss, Binder{done});
      done.run();
    }
    Query(store, surplus, kMaxMisses).run();
  });
}

std::vector<MissRecord> misses(Database& database, const Filter& filter) {
  auto found = listed<MissRecord>(database, filter, fmt::format(" AND NOT ({}) ORDER BY id", kTunedMeanwhile));
  std::stable_sort(found.begin(), found.end(), [](const MissRecord& a, const MissRecord& b) {
    return std::make_tuple(a.spent_ns(), a.calls) > std::make_tuple(b.spent_ns(), b.calls);
  });
  return found;
}

std::int64_t forget_misses(Database& database, const Filter& filter) {
  return removed<MissRecord>(database.store(), filter);
}

std::int64_t forget_miss(Database& database, const MissRecord& miss) {
  auto& store = database.store();
  return store.write([&store, miss] {
    remove(store, miss);
    return std::int64_t{store.connection().getChanges()};
  });
}

Removed remove_results(Database& database, const Filter& filter) {
  auto& store = database.store();
  return store.write([&store, filter] {
    Removed all;
    all.best = removed<BestRecord>(store, filter);
    const std::string trials =
        fmt::format("DELETE FROM trial WHERE of IN (SELECT session FROM session{})", kMatching<SessionRecord>);
    Query(store, trials, filter.kernel, filter.device_key, filter.source).run();
    all.trials = store.connection().getChanges();
    all.sessions = removed<SessionRecord>(store, filter);
    all.quarantined = removed<QuarantineRecord>(store, filter);
    all.misses = removed<MissRecord>(store, filter);
    return all;
  });
}

Statistics statistics(Database& database) {
  auto& store = database.store();
  Statistics result;
  result.path = store.display_path();
  result.sqlite_version = sqlite3_libversion();
  return store.read([&] {
    const auto count = [&](const char* sql) { return number(store.connection(), sql); };
    const auto page = count("PRAGMA page_size");
    result.file_bytes = count("PRAGMA page_count") * page;
    result.free_bytes = count("PRAGMA freelist_count") * page;
    result.schema_version = version_of(store.connection());
    result.journal_mode = word(store.connection(), "PRAGMA journal_mode");
    constexpr std::pair<std::int64_t Counts::*, const char*> counts[] = {
        {&Counts::kernels,
         "(SELECT kernel, source, objective FROM best UNION SELECT kernel, source, objective FROM session UNION SELECT "
         "kernel, source, objective FROM quarantine)"},
        {&Counts::devices, "(SELECT key FROM best UNION SELECT key FROM session)"},
        {&Counts::problems, "(SELECT choices, sizes FROM best UNION SELECT choices, sizes FROM session)"},
        {&Counts::sessions, "session"},
        {&Counts::unfinished_sessions, "session WHERE finished IS NULL"},
        {&Counts::trials, "trial"},
        {&Counts::failed_trials, "trial WHERE kind <> 'ok'"},
        {&Counts::best, "best"},
        {&Counts::quarantined, "quarantine"},
        {&Counts::misses, "miss"}};
    for (const auto& [member, rows] : counts) {
      result.*member = count(fmt::format("SELECT count(*) FROM {}", rows).c_str());
    }
    return result;
  });
}

namespace {

/// Counts rows with a wrong checksum or invalid contents.
template <class Record>
std::int64_t damaged(Store& store) {
  std::int64_t bad = 0;
  Query row(store, statements<Record>().select);
  while (row.next()) {
    Record record;
    bad += take(row, record) ? 0 : 1;
  }
  return bad;
}

}  // namespace

std::vector<std::string> doctor(Database& database) {
  auto& store = database.store();
  std::vector<std::string> findings;
  if (database.is_in_memory() && !database.trouble().empty()) findings.push_back(database.trouble());
  const auto examine = [&, before = findings.size()] {
    findings.resize(before);
    Query check(store, "PRAGMA integrity_check(20)");
    while (check.next()) {
      if (auto text = check.text(); text != "ok") findings.push_back("damaged: " + text);
    }
    Query references(store, "PRAGMA foreign_key_check");
    while (references.next()) {
      const auto table = references.text();
      const auto row = references.integer();
      findings.push_back(
          fmt::format("row {} of table {} refers to a missing row of {}", row, table, references.text()));
    }
    for (const auto& wrong : wrong_definitions(store.connection())) findings.push_back(wrong);
    const std::pair<std::int64_t, const char*> damages[] = {
        {damaged<BestRecord>(store), "best configurations have a wrong checksum or contents and are not served"},
        {damaged<SessionRecord>(store), "sessions have a wrong checksum or contents"},
        {damaged<StoredTrial>(store), "trials have a wrong checksum or contents"},
        {damaged<MissRecord>(store), "remembered misses have a wrong checksum or contents"},
        {damaged<QuarantineRecord>(store),
         "rows of the quarantine have a wrong checksum or contents: the configurations that they name are not served"}};
    for (const auto& [rows, what] : damages) {
      if (rows > 0) findings.push_back(fmt::format("{} {}", rows, what));
    }
    return true;
  };
  try {
    if (store.read(examine)) return findings;
  } catch (const CacheError& error) {
    findings.push_back(error.what());
    return findings;
  }
  findings.push_back(database.trouble().empty() ? "the database cannot be read" : database.trouble());
  return findings;
}

}  // namespace tuner::cache
