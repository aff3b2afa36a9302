#include <tuner/report/tuning.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <cache/query/session.hpp>
#include <cache/records/json.hpp>

namespace tuner::report {
namespace {

void add_sessions(std::vector<Tuning>& all, cache::Database& database, const cache::Filter& filter) {
  std::map<decltype(cache::SessionKey().identity()), std::size_t> places;
  std::vector<cache::SessionRecord> sessions = cache::sessions(database, filter);
  std::reverse(sessions.begin(), sessions.end());  // oldest first
  for (cache::SessionRecord& session : sessions) {
    std::vector<cache::TrialRecord> trials = cache::session_trials(database, session.uuid);
    const auto [at, is_new] = places.try_emplace(session.key.identity(), all.size());
    if (is_new) {
      Tuning& begun = all.emplace_back();
      begun.key = session.key;
      begun.database = database.path().string();
    }
    Tuning& tuning = all[at->second];
    const double begin_s = tuning.trials.empty() ? 0 : tuning.trials.back().at_s;
    append_session(tuning, std::move(trials), session.started_ms, begin_s);
    tuning.sessions.push_back(std::move(session));
  }
}

/// Adds best results to their tunings, or as tunings without trials.
void add_best(std::vector<Tuning>& all, std::size_t begin, cache::Database& database, const cache::Filter& filter) {
  for (cache::BestRecord& best : cache::best_rows(database, filter)) {
    bool known = false;
    for (std::size_t i = begin; i < all.size(); ++i)
      if (best.identity() == all[i].key.Context::identity()) all[i].best = best, known = true;
    if (known) continue;
    Tuning& tuning = all.emplace_back();
    tuning.key = {best, {}};
    tuning.best = std::move(best);
    tuning.database = database.path().string();
  }
}

/// Adds the rates and times of a device in \p properties to the object \p seen. Keeps the highest rate, or the lowest
/// time (its name ends in `_ns`).
void unite(Json& seen, const std::string& properties) {
  const auto given = json_or_discarded(properties);
  if (!given.is_object()) return;
  for (const auto& [name, value] : given.items()) {
    if (!value.is_number() || value <= 0) continue;
    Json& best = seen[name];
    if (best.is_null() || (std::string_view(name).ends_with("_ns") ? value < best : value > best)) best = value;
  }
}

/// Each tuning measures its device again. All tunings of a device are judged by the best of these measurements.
void unite_devices(std::vector<Tuning>& all) {
  std::map<std::string, Json> devices;
  for (const Tuning& tuning : all) {
    Json& seen = devices.try_emplace(tuning.key.device.key, Json::object()).first->second;
    unite(seen, tuning.key.device.properties);
    for (const cache::SessionRecord& session : tuning.sessions) unite(seen, session.key.device.properties);
    if (tuning.best) unite(seen, tuning.best->device.properties);
  }
  for (Tuning& tuning : all) tuning.key.device.properties = text_of_json(devices.at(tuning.key.device.key));
}

std::int64_t last_ms(const Tuning& tuning) {
  if (!tuning.sessions.empty()) return tuning.sessions.back().started_ms;
  return tuning.best ? tuning.best->measured_ms : 0;
}

}  // namespace

void append_session(Tuning& tuning, std::vector<cache::TrialRecord> trials, std::int64_t started_ms, double begin_s) {
  std::set<std::string> seen;
  double latest = begin_s;
  for (cache::TrialRecord& trial : trials) {
    const double at = begin_s + static_cast<double>(trial.created_ms - started_ms) / 1000;
    latest = std::max(latest, at);
    bool again = !seen.insert(trial.configuration).second;
    for (const char* const name : cache::kSearchTimes) again = trial.metrics.erase(name) > 0 || again;
    tuning.trials.push_back({std::move(trial), latest, again});
  }
}

Gathered gather(std::span<cache::Database* const> databases, const cache::Filter& filter) {
  Gathered found;
  std::vector<Tuning>& all = found.tunings;
  for (cache::Database* const one : databases) {
    cache::Database& database = *one;
    // Shipped results are listed only if the user has none.
    if (!all.empty() && !all.front().shipped) continue;
    const std::size_t begin = all.size();
    add_sessions(all, database, filter);
    add_best(all, begin, database, filter);
    for (std::size_t i = begin; i < all.size(); ++i) all[i].shipped = database.is_shipped();
    if (all.size() > begin) found.databases.push_back(database.path().string());
  }
  for (Tuning& tuning : all) {
    const cache::SessionKey& key = tuning.key;
    tuning.served = cache::lookup({key.kernel, key.device, key.environment, key.problem}, databases);
    for (cache::Database* const database : databases)
      for (cache::QuarantineRecord& record : database->quarantined(key.device.key, key.kernel, key.problem))
        tuning.quarantined.push_back(std::move(record));
  }
  unite_devices(all);
  std::stable_sort(all.begin(), all.end(), [](const Tuning& a, const Tuning& b) {
    return std::pair(a.trials.empty(), -last_ms(a)) < std::pair(b.trials.empty(), -last_ms(b));
  });
  return found;
}

}  // namespace tuner::report
