#include <cache/browse.hpp>

#include <algorithm>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <sqlite3.h>

#include <cache/paths.hpp>
#include <cache/rows.hpp>
#include <cache/store.hpp>

namespace tuner::cache {

std::vector<KernelSummary> kernels(Database& database) {
  auto& store = database.store();
  return store.read([&] {
    std::vector<KernelSummary> found;
    Query row(
        store,
        "SELECT k.kernel, k.source, k.objective, (SELECT count(DISTINCT problem_id) FROM best WHERE kernel_id = "
        "k.id), (SELECT count(*) FROM session WHERE kernel_id = k.id), (SELECT count(*) FROM session s JOIN trial "
        "t ON t.session_id = s.id WHERE s.kernel_id = k.id) FROM kernel k ORDER BY 1, 2, 3");
    while (row.next()) {
      found.push_back({{row.text(), row.text(), row.text()}, row.integer(), row.integer(), row.integer()});
    }
    return found;
  });
}

namespace {

/// Conditions on the tables k, d and p, to be given a filter's three fields.
constexpr const char* kFiltered =
    " WHERE (?1 = '' OR k.kernel = ?1) AND (?2 = '' OR d.key = ?2) AND (?3 = '' OR p.choices = ?3)";

}  // namespace

std::vector<BestRecord> best_rows(Database& database, const Filter& filter) {
  auto& store = database.store();
  auto found = store.read([&] {
    static const std::string sql = select_best() + kFiltered;
    return take_sound<BestRecord>(store, Query(store, sql, filter.kernel, filter.device_key, filter.choices));
  });
  const auto key = [](const BestRecord& b) {
    const auto& e = b.environment;
    return std::tie(b.device.key, e.driver, e.compiler, e.tuner, e.os, b.kernel.name, b.kernel.objective,
                    b.kernel.source_hash, b.problem.choices, b.problem.sizes);
  };
  std::sort(found.begin(), found.end(), [&](const BestRecord& a, const BestRecord& b) { return key(a) < key(b); });
  return found;
}

std::vector<SessionRecord> sessions(Database& database, const Filter& filter) {
  auto& store = database.store();
  return store.read([&] {
    static const std::string sql = select_sessions() + kFiltered + " ORDER BY s.started DESC, s.session";
    return take_sound<SessionRecord>(store, Query(store, sql, filter.kernel, filter.device_key, filter.choices));
  });
}

std::vector<QuarantineRecord> quarantined(Database& database, const Filter& filter) {
  auto& store = database.store();
  return store.read([&] {
    static const std::string sql = select_quarantine() +
                                   " WHERE (?1 = '' OR k.kernel = ?1) AND (?2 = '' OR q.device_key = ?2) ORDER BY "
                                   "q.device_key, k.kernel, k.objective, k.source, c.quarantined";
    return take_sound<QuarantineRecord>(store, Query(store, sql, filter.kernel, filter.device_key));
  });
}

std::int64_t lift_quarantine(Database& database, const Filter& filter, const std::string& configuration) {
  auto& store = database.store();
  std::int64_t lifted = 0;
  store.write([&] {
    Query(
        store,
        "DELETE FROM quarantine WHERE (?1 = '' OR kernel_id IN (SELECT id FROM kernel WHERE kernel = ?1)) AND (?2 = "
        "'' OR device_key = ?2) AND (?3 = '' OR configuration_id IN (SELECT id FROM configuration WHERE configuration "
        "= ?3))",
        filter.kernel, filter.device_key, configuration)
        .run();
    lifted = store.connection().getChanges();
  });
  return lifted;
}

Statistics statistics(Database& database) {
  auto& store = database.store();
  Statistics result;
  result.path = store.display_path();
  result.read_only = database.read_only();
  result.in_memory = database.is_in_memory();
  result.sqlite_version = sqlite3_libversion();
  const bool network = !database.path().empty() && on_network_file_system(database.path());
  const bool allowed = std::string_view(journal_mode(sqlite3_libversion_number(), network)) == "WAL";
  result.wal_state =
      allowed   ? "WAL is safe here"
      : network ? "no WAL: the file is on a network file system"
                : fmt::format("no WAL: SQLite {} may lose a commit when it resets the log", result.sqlite_version);
  return store.read([&] {
    const auto count = [&](const char* sql) {
      Query row(store, sql);
      return row.next() ? row.integer() : 0;
    };
    const auto page = count("PRAGMA page_size");
    result.file_bytes = count("PRAGMA page_count") * page;
    result.free_bytes = count("PRAGMA freelist_count") * page;
    result.schema_version = static_cast<int>(count("PRAGMA user_version"));
    {
      Query row(store, "PRAGMA journal_mode");
      if (row.next()) result.journal_mode = row.text();
    }
    result.kernels = count("SELECT count(*) FROM kernel");
    result.devices = count("SELECT count(*) FROM device");
    result.environments = count("SELECT count(*) FROM environment");
    result.problems = count("SELECT count(*) FROM problem");
    result.configurations = count("SELECT count(*) FROM configuration");
    result.sessions = count("SELECT count(*) FROM session");
    result.unfinished_sessions = count("SELECT count(*) FROM session WHERE finished IS NULL");
    result.trials = count("SELECT count(*) FROM trial");
    result.failed_trials = count("SELECT count(*) FROM trial WHERE kind <> 'ok'");
    result.best = count("SELECT count(*) FROM best");
    result.quarantined = count("SELECT count(*) FROM quarantine");
    return result;
  });
}

namespace {

/// How many rows of a kind have a wrong checksum.
template <class Record>
std::int64_t damaged(Store& store, const std::string& sql) {
  std::int64_t bad = 0;
  Query row(store, sql);
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
  const auto examine = [&] {
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
    for (const auto& name : missing_definitions(store.connection(), kWisdomSchema)) {
      findings.push_back(fmt::format("table or index '{}' is missing", name));
    }
    const std::pair<std::int64_t, const char*> damages[] = {
        {damaged<BestRecord>(store, select_best()), "best configurations have a wrong checksum and are not served"},
        {damaged<SessionRecord>(store, select_sessions()), "sessions have a wrong checksum"},
        {damaged<StoredTrial>(store, select_trials()), "trials have a wrong checksum"},
        {damaged<QuarantineRecord>(store, select_quarantine()),
         "rows of the quarantine have a wrong checksum: what they may mean is not served either"}};
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
