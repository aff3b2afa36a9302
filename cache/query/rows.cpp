#include <cache/query/rows.hpp>

namespace tuner::cache {
namespace {

/// Rows that may forbid a configuration, found by either index.
const std::vector<std::string>& forbidding_rows() {
  static const auto& sql = *new std::vector<std::string>([] {
    std::vector<std::string> made;
    for (const char* index : {"quarantine_configuration", "quarantine_device"})
      made.push_back(
          fmt::format("{} INDEXED BY {} WHERE quarantined = ? AND device_key = ? AND kernel = ? AND source = ? AND "
                      "place BETWEEN ? AND ?",
                      statements<QuarantineRecord>().select, index));
    return made;
  }());
  return sql;
}

constexpr const char* kIsDamaged =
    "may be quarantined on this device: that row of the database is damaged (see `tune db check`)";

}  // namespace

void warn_of_damaged_rows(Store& store) {
  store.warn_once("rows", fmt::format("wisdom database {}: damaged rows were left out", store.display_path()));
}

std::vector<StoredTrial> stored_trials(Store& store, const std::string& uuid) {
  return take_sound<StoredTrial>(store,
                                 Query(store, statements<StoredTrial>().select + " WHERE of = ? ORDER BY trial", uuid));
}

std::optional<StoredTrial> latest_measurement(Store& store, const BestRecord& best) {
  // Any release of tuner may have measured it: a session continues after an upgrade.
  const auto visit_tuning = [](auto& r, auto&& field) {
    visit_subject(r, field);
    field("key", r.device.key, kPlain);
    field("driver", r.environment.driver, kPlain);
    field("compiler", r.environment.compiler, kPlain);
  };
  ColumnList tuning;
  visit_tuning(best, tuning);
  Query row(
      store,
      statements<StoredTrial>().select + " JOIN (SELECT session AS one FROM session" + tuning.condition() +
          ") ON of = one WHERE configuration = ? AND kind = 'ok' AND verified = 1 AND abandoned = 0 AND median_ns > 0 "
          "ORDER BY created > ?, created DESC, id DESC");  // a date in the future ranks as old
  visit_tuning(best, Binder{row});
  row.bind(best.configuration);
  row.bind(now_ms());
  while (row.next()) {
    StoredTrial found;
    if (take(row, found) && found.trial.configuration == best.configuration) return found;
  }
  return std::nullopt;
}

bool Quarantine::may_be_in(Store& store) {
  constexpr const char* any =
      "SELECT 1 WHERE EXISTS(SELECT 1 FROM quarantine INDEXED BY quarantine_configuration WHERE quarantined >= '') "
      "OR EXISTS(SELECT 1 FROM quarantine INDEXED BY quarantine_device WHERE device_key >= '')";
  if (const auto at = known_.find(&store); at != known_.end()) return at->second;
  return !store.read([&] {
    const bool empty = !Query(store, any).next();
    known_[&store] = !empty;
    return empty;
  });
}

std::optional<std::string> Quarantine::reason_against(Store& store, const std::string& configuration) {
  if (!store.usable() || !may_be_in(store)) return std::nullopt;
  std::optional<std::string> reason = kIsDamaged;  // if reading it takes too long
  store.read([&] {
    reason.reset();
    for (const auto& problem : problems_)
      for (const std::string& sql : forbidding_rows())
        if (!reason) reason = found(store, sql, configuration, problem);
    return true;
  });
  return reason;
}

std::optional<std::string> Quarantine::found(Store& store, const std::string& sql, const std::string& configuration,
                                             const ProblemRecord& problem) const {
  const auto [first, last] = places_near(problem.sizes);
  Query row(store, sql, configuration, device_key_, kernel_.name, kernel_.source_hash, first, last);
  while (row.next()) {
    // Any part of a damaged row may be wrong, so that it forbids, too.
    QuarantineRecord record;
    if (!take(row, record)) {
      warn_of_damaged_rows(store);
      return kIsDamaged;
    }
    if (record.kernel.objective == kernel_.objective && alike(record.problem, problem))
      return "quarantined on this device: " + record.reason;
  }
  return std::nullopt;
}

}  // namespace tuner::cache
