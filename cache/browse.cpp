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
    Query row(store,
              "SELECT k.name, k.source_hash, k.objective, (SELECT count(DISTINCT problem_id) FROM best WHERE kernel_id "
              "= k.id), (SELECT count(*) FROM session WHERE kernel_id = k.id), (SELECT count(*) FROM session s JOIN "
              "trial t ON t.session_id = s.id WHERE s.kernel_id = k.id) FROM kernel k ORDER BY 1, 2, 3");
    while (row.next()) {
      found.push_back({{row.text(0), row.text(1), row.text(2)}, row.integer(3), row.integer(4), row.integer(5)});
    }
    return found;
  });
}

std::vector<DeviceRecord> devices(Database& database) {
  auto& store = database.store();
  return store.read([&] {
    std::vector<DeviceRecord> found;
    Query row(store,
              "SELECT key, name, backend, compute_capability, sm_count, l2_bytes, bus_bits, max_shared_bytes, "
              "registers_per_sm, properties FROM device ORDER BY key");
    while (row.next()) {
      found.push_back({row.text(0), row.text(1), row.text(2), static_cast<int>(row.integer(3)),
                       static_cast<int>(row.integer(4)), row.integer(5), static_cast<int>(row.integer(6)),
                       row.integer(7), static_cast<int>(row.integer(8)), row.text(9)});
    }
    return found;
  });
}

std::vector<BestRecord> best_rows(Database& database, const Filter& filter) {
  auto& store = database.store();
  auto found = store.read([&] {
    std::vector<BestRecord> rows;
    Query row(store,
              "SELECT " TUNER_CACHE_BEST_COLUMNS
              " FROM best b JOIN kernel k ON k.id = b.kernel_id JOIN device d ON d.id = b.device_id JOIN environment e "
              "ON e.id = b.environment_id JOIN problem p ON p.id = b.problem_id JOIN configuration c ON c.id = "
              "b.configuration_id WHERE (?1 = '' OR k.name = ?1) AND (?2 = '' OR d.key = ?2) AND (?3 = '' OR p.choices "
              "= ?3)",
              filter.kernel, filter.device_key, filter.choices);
    while (row.next()) {
      if (auto best = best_from(row)) {
        rows.push_back(std::move(*best));
      } else {
        warn_of_damaged_rows(store);
      }
    }
    return rows;
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
    std::vector<SessionRecord> found;
    Query row(store,
              "SELECT " TUNER_CACHE_SESSION_COLUMNS
              ", (SELECT count(*) FROM trial t WHERE t.session_id = s.id) FROM session s JOIN kernel k ON k.id = "
              "s.kernel_id JOIN device d ON d.id = s.device_id JOIN environment e ON e.id = s.environment_id JOIN "
              "problem p ON p.id = s.problem_id WHERE (?1 = '' OR k.name = ?1) AND (?2 = '' OR d.key = ?2) AND (?3 = "
              "'' OR p.choices = ?3) ORDER BY s.started_ms DESC, s.uuid",
              filter.kernel, filter.device_key, filter.choices);
    while (row.next()) {
      if (auto session = session_from(row)) {
        session->trials = row.integer(kSessionIdColumn + 1);
        found.push_back(std::move(*session));
      } else {
        warn_of_damaged_rows(store);
      }
    }
    return found;
  });
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
      return row.next() ? row.integer(0) : 0;
    };
    const auto page = count("PRAGMA page_size");
    result.file_bytes = count("PRAGMA page_count") * page;
    result.free_bytes = count("PRAGMA freelist_count") * page;
    result.schema_version = static_cast<int>(count("PRAGMA user_version"));
    {
      Query row(store, "PRAGMA journal_mode");
      if (row.next()) result.journal_mode = row.text(0);
    }
    result.kernels = count("SELECT count(*) FROM kernel");
    result.devices = count("SELECT count(*) FROM device");
    result.environments = count("SELECT count(*) FROM environment");
    result.problems = count("SELECT count(*) FROM problem");
    result.configurations = count("SELECT count(*) FROM configuration");
    result.sessions = count("SELECT count(*) FROM session");
    result.unfinished_sessions = count("SELECT count(*) FROM session WHERE finished_ms IS NULL");
    result.trials = count("SELECT count(*) FROM trial");
    result.failed_trials = count("SELECT count(*) FROM trial WHERE kind <> 'ok'");
    result.best = count("SELECT count(*) FROM best");
    result.quarantined = count("SELECT count(*) FROM quarantine");
    return result;
  });
}

std::vector<std::string> doctor(Database& database) {
  auto& store = database.store();
  std::vector<std::string> findings;
  if (database.is_in_memory() && !database.trouble().empty()) findings.push_back(database.trouble());
  const bool readable = store.read([&] {
    Query check(store, "PRAGMA integrity_check(20)");
    while (check.next()) {
      if (check.text(0) != "ok") findings.push_back("damaged: " + check.text(0));
    }
    Query references(store, "PRAGMA foreign_key_check");
    while (references.next()) {
      findings.push_back(fmt::format("row {} of table {} refers to a missing row of {}", references.integer(1),
                                     references.text(0), references.text(2)));
    }
    std::int64_t bad = 0;
    Query best(store, "SELECT " TUNER_CACHE_BEST_COLUMNS
                      " FROM best b JOIN kernel k ON k.id = b.kernel_id JOIN device d ON d.id = b.device_id JOIN "
                      "environment e ON e.id = b.environment_id JOIN problem p ON p.id = b.problem_id JOIN "
                      "configuration c ON c.id = b.configuration_id");
    while (best.next()) bad += best_from(best) ? 0 : 1;
    if (bad > 0)
      findings.push_back(fmt::format("{} best configurations have a wrong checksum and are not served", bad));
    bad = 0;
    std::int64_t bad_trials = 0;
    Query session(store, "SELECT " TUNER_CACHE_SESSION_COLUMNS
                         " FROM session s JOIN kernel k ON k.id = s.kernel_id JOIN device d ON d.id = s.device_id JOIN "
                         "environment e ON e.id = s.environment_id JOIN problem p ON p.id = s.problem_id");
    while (session.next()) {
      const auto record = session_from(session);
      if (!record) {
        ++bad;
        continue;
      }
      Query trial(store,
                  "SELECT " TUNER_CACHE_TRIAL_COLUMNS
                  " FROM trial t JOIN configuration c ON c.id = t.configuration_id WHERE t.session_id = ?",
                  session.integer(kSessionIdColumn));
      while (trial.next()) bad_trials += trial_from(trial, record->uuid) ? 0 : 1;
    }
    if (bad > 0) findings.push_back(fmt::format("{} sessions have a wrong checksum", bad));
    if (bad_trials > 0) findings.push_back(fmt::format("{} trials have a wrong checksum", bad_trials));
    return true;
  });
  if (!readable) findings.push_back(database.trouble().empty() ? "the database cannot be read" : database.trouble());
  return findings;
}

}  // namespace tuner::cache
