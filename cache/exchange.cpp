#include <cache/exchange.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include <cache/entries.hpp>
#include <cache/record_checks.hpp>
#include <cache/session.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace {

/// True when \p a is to be kept over \p b: a total order, so that the order of merging does not matter.
bool is_better_evidence(const BestRecord& a, const BestRecord& b) {
  const auto number = [](double value) { return std::isfinite(value) ? value : -1; };
  const auto key = [&](const BestRecord& r) {
    return std::make_tuple(-r.measured_ms, -r.samples, r.median_ns, std::string_view(r.configuration), number(r.low_ns),
                           number(r.high_ns), number(r.relative_noise));
  };
  return key(a) < key(b);
}

std::optional<BestRecord> known_best(Store& store, BestRecord like) {
  static const std::string sql =
      select_best() + " WHERE b.device_id = ? AND b.kernel_id = ? AND b.problem_id = ? AND b.environment_id = ?";
  Query row(store, sql, ensure_device(store, like.device), ensure_kernel(store, like.kernel),
            ensure_problem(store, like.problem), ensure_environment(store, like.environment));
  BestRecord known;
  if (row.next() && take(row, known)) return known;
  return std::nullopt;  // a damaged row may be replaced
}

/// People's descriptions of a device do not depend on the order of merging either.
void unite_descriptions(Store& store, DeviceRecord device) {
  ensure_device(store, device);
  Query(store,
        "UPDATE device SET name = max(name, ?1), properties = max(properties, ?2) WHERE key = ?3 AND (name < ?1 "
        "OR properties < ?2)",
        device.name, device.properties, device.key)
      .run();
}

void apply(Store& store, const BestRecord& best, ImportCount& count) {
  unite_descriptions(store, best.device);
  // The numbers of the stored device are part of the evidence.
  auto record = best;
  ensure_device(store, record.device);
  const auto known = known_best(store, record);
  if (known && !is_better_evidence(record, *known)) {
    ++count.unchanged;
    return;
  }
  put_best(store, record);
  ++count.best;
}

void apply(Store& store, const SessionRecord& session, ImportCount& count) {
  unite_descriptions(store, session.key.device);
  bool added = false;
  const auto id = ensure_session(store, session, &added);
  ++(added ? count.sessions : count.unchanged);
  if (added || !session.finished_ms) return;
  Query(store, "UPDATE session SET finished = ?1 WHERE id = ?2 AND coalesce(finished, 0) < ?1", session.finished_ms, id)
      .run();
}

void apply(Store& store, const StoredTrial& trial, ImportCount& count) {
  std::int64_t session = 0;
  {
    Query row(store, "SELECT id FROM session WHERE session = ?", trial.session);
    if (!row.next()) return;
    session = row.integer();
  }
  ++(put_trial(store, session, trial) ? count.trials : count.unchanged);
}

void apply(Store& store, const QuarantineRecord& record, ImportCount& count) {
  ++(put_quarantine(store, record) ? count.quarantined : count.unchanged);
}

}  // namespace

std::vector<Entry> entries_of(Database& database, const Filter& filter, bool everything) {
  auto& store = database.store();
  // One transaction: best, sessions and trials of the same moment.
  return store.read([&] {
    std::vector<Entry> entries;
    // What stands in a database is somebody's word too.
    const auto add = [&](auto& record) {
      if (problem_with(record)) return warn_of_damaged_rows(store);
      entries.emplace_back(std::move(record));
    };
    for (auto& best : best_rows(database, filter)) add(best);
    if (!everything) return entries;
    auto all = sessions(database, filter);
    const auto key = [](const SessionRecord& s) {
      const auto& e = s.key.environment;
      return std::tie(s.key.device.key, e.driver, e.compiler, e.tuner, e.os, s.started_ms, s.uuid);
    };
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    for (auto& session : all) {
      const auto uuid = session.uuid;
      const auto before = entries.size();
      add(session);
      if (entries.size() == before) continue;
      for (auto& trial : stored_trials(store, uuid)) add(trial);
    }
    for (auto& record : quarantined(database, filter)) add(record);
    return entries;
  });
}

ImportCount apply_entries(Database& database, const std::vector<Entry>& entries) {
  ImportCount count;
  auto& store = database.store();
  store.write([&] {
    count = {};
    for (const auto& entry : entries) {
      std::visit([&](const auto& record) { apply(store, record, count); }, entry);
    }
  });
  return count;
}

std::string export_wisdom(Database& database, const Filter& filter) {
  return entries_text(entries_of(database, filter, false));
}

std::string export_all(Database& database, const Filter& filter) {
  return entries_text(entries_of(database, filter, true));
}

ImportCount import_text(Database& database, std::string_view text, const std::string& source) {
  return apply_entries(database, parse_entries(text, source));
}

ImportCount merge(Database& into, Database& from) {
  if (&into == &from) return {};
  return apply_entries(into, entries_of(from, {}, true));
}

}  // namespace tuner::cache
