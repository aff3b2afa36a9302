#include <tuner/session/wisdom/stored_results.hpp>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include <cache/query/browse.hpp>
#include <cache/query/session.hpp>
#include <cache/records/json.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/objective.hpp>

namespace tuner {
namespace {

/// As conditions_text() (session/tuning/tuning.hpp) writes them.
struct Conditions {
  bool verify = true;
  std::string reference;
};

Conditions conditions_of(const cache::SessionRecord& session) {
  Conditions result;
  const auto json = json_or_discarded(session.key.conditions);
  if (!json.is_object()) return result;
  if (const auto at = json.find("verify"); at != json.end() && at->is_boolean()) result.verify = at->get<bool>();
  if (const auto at = json.find("reference"); at != json.end() && at->is_string())
    result.reference = at->get<std::string>();
  return result;
}

using References = std::map<decltype(cache::Context().identity()), std::string>;

/// Of the latest tuning of each context.
References references(cache::Database& database, const cache::Filter& filter) {
  References all;
  for (const cache::SessionRecord& session : cache::sessions(database, filter)) {
    const Conditions conditions = conditions_of(session);
    if (conditions.verify) all.try_emplace(session.key.Context::identity(), conditions.reference);
  }
  return all;
}

std::string reference_in(const References& all, const cache::BestRecord& best) {
  const auto at = all.find(best.identity());
  return at == all.end() ? std::string() : at->second;
}

}  // namespace

std::vector<StoredResult> best_results(cache::Database& database, const cache::Filter& filter) {
  const References known = references(database, filter);
  std::vector<StoredResult> results;
  for (const cache::BestRecord& best : cache::best_rows(database, filter))
    results.push_back({best, reference_in(known, best)});
  return results;
}

std::string reference_of(cache::Database& database, const cache::BestRecord& best) {
  return reference_in(references(database, {best.kernel.name, best.device.key}), best);
}

std::vector<StoredResult> unverified_results(cache::Database& database, const cache::Filter& filter) {
  std::vector<StoredResult> results;
  std::set<decltype(cache::SessionKey().identity())> seen;
  for (const cache::SessionRecord& session : cache::sessions(database, filter)) {
    if (conditions_of(session).verify || !seen.insert(session.key.identity()).second) continue;
    const Objective objective{session.key.kernel.objective};
    std::optional<std::pair<double, cache::TrialRecord>> first;
    for (cache::TrialRecord& trial : cache::finished_trials(database, session.key)) {
      if (trial.kind != "ok" || trial.abandoned) continue;
      const auto value = objective(trial.median_ns, trial.metrics);
      if (value && (!first || *value < first->first)) first.emplace(*value, std::move(trial));
    }
    if (!first) continue;
    const cache::TrialRecord& trial = first->second;
    StoredResult& result = results.emplace_back();
    static_cast<cache::Context&>(result.best) = session.key;
    static_cast<cache::TimeRecord&>(result.best) = trial;
    result.best.configuration = trial.configuration;
    result.best.samples = static_cast<std::int64_t>(trial.samples_ns.size());
    result.best.measured_ms = trial.created_ms;
    result.reference = "nothing";
  }
  return results;
}

}  // namespace tuner
