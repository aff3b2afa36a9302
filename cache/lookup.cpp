#include <cache/lookup.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include <cache/rows.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace {

/// In the order in which they are asked: each is of a tier.
enum Step { kExact, kStale, kExactAround, kStaleAround, kNearest, kSimilar, kPortable };
constexpr Tier kTiers[] = {Tier::exact,        Tier::stale,          Tier::nearest_size, Tier::nearest_size,
                           Tier::nearest_size, Tier::similar_device, Tier::portable};

struct Candidate {
  Step step = kPortable;
  BestRecord best;
  bool same_source = false;
  bool same_software = false;
  bool frozen = false;
  double distance = 0;  // sum of |log2 ratio| over the sizes
  int votes = 0;        // for kPortable
  int voters = 0;
};

/// Best rows for kernel ?1, objective ?2 and choices ?3.
std::string select_where(const char* conditions) {
  return select_all<BestRecord>() + " WHERE kernel = ?1 AND objective = ?2 AND choices = ?3 AND " + conditions;
}

/// The rows of \p sql, which takes \p arguments, that may serve \p query. What a row says is compared with the query
/// again: an index may be damaged where the table is not. \p bound: only for problems that are alike.
template <class... Arguments>
std::vector<Candidate> collect(Store& store, const std::string& sql, const Context& query, bool bound,
                               const Arguments&... arguments) {
  std::vector<Candidate> found;
  for (auto& best : take_sound<BestRecord>(
           store, Query(store, sql, query.kernel.name, query.kernel.objective, query.problem.choices, arguments...))) {
    if (best.kernel.name != query.kernel.name || best.kernel.objective != query.kernel.objective ||
        best.problem.choices != query.problem.choices || best.device.backend != query.device.backend) {
      continue;
    }
    const auto far = distance(query.problem.sizes, best.problem.sizes);
    if (!far || (bound && !alike(query.problem, best.problem))) continue;
    Candidate candidate;
    candidate.same_source = best.kernel.source_hash == query.kernel.source_hash;
    candidate.same_software = best.environment.same_software(query.environment);
    candidate.frozen = store.kind().frozen;
    candidate.distance = *far;
    candidate.best = std::move(best);
    found.push_back(std::move(candidate));
  }
  return found;
}

/// Sorts by \p order, the best first, and settles ties so that equal contents give equal answers; frozen ones do so
/// wherever they are read, whatever the driver and the compiler are there.
template <class Order>
void rank(std::vector<Candidate>& candidates, Order order) {
  const auto full = [&](const Candidate& c) {
    return std::tuple_cat(
        order(c), std::make_tuple(!c.same_software && !c.frozen, -c.best.measured_ms, c.best.median_ns,
                                  std::string_view(c.best.configuration), std::string_view(c.best.environment.driver),
                                  std::string_view(c.best.environment.compiler)));
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate& a, const Candidate& b) { return full(a) < full(b); });
}

/// What was measured on devices of this compute capability for problems like \p q, each in its step; \p own: the sizes
/// that are asked for.
std::vector<Candidate> near(Store& store, const Context& q, const Sizes& own) {
  static const std::string sql =
      select_where("backend = ?4 AND compute_capability = ?5 AND first_size BETWEEN ?6 / 2 AND ?6 * 2");
  const auto& sizes = q.problem.sizes;
  auto found = collect(store, sql, q, true, q.device.backend, q.device.compute_capability,
                       sizes.empty() ? 0 : sizes.begin()->second);
  for (auto& c : found) {
    const bool fresh = c.same_source && c.same_software;
    c.step = c.best.device.key != q.device.key ? kSimilar
             : c.best.problem.sizes == own     ? (fresh ? kExact : kStale)
             : c.best.problem.sizes == sizes   ? (fresh ? kExactAround : kStaleAround)
                                               : kNearest;
  }
  std::erase_if(found,
                [&](const Candidate& c) { return c.best.device.compute_capability != q.device.compute_capability; });
  rank(found, [&](const Candidate& c) {
    return std::make_tuple(c.step, !c.same_source, std::abs(c.best.device.sm_count - q.device.sm_count), c.distance,
                           std::string_view(c.best.device.key));
  });
  return found;
}

/// One candidate for each configuration, with its votes; its record is the one nearest to the query.
std::vector<Candidate> any_device(Store& store, const Context& q) {
  static const std::string sql = select_where("backend = ?4");
  auto found = collect(store, sql, q, false, q.device.backend);
  const auto apart = [&](const Candidate& c) {
    return std::abs(c.best.device.compute_capability - q.device.compute_capability);
  };
  rank(found, [&](const Candidate& c) {
    return std::make_tuple(!c.same_source, apart(c), c.distance, std::string_view(c.best.device.key));
  });
  std::vector<Candidate> elected;
  std::map<std::string, std::size_t> place;
  const int voters = static_cast<int>(found.size());
  for (auto& candidate : found) {
    const auto [at, is_new] = place.try_emplace(candidate.best.configuration, elected.size());
    if (is_new) elected.push_back(std::move(candidate));
    elected[at->second].votes += 1;
    elected[at->second].voters = voters;
  }
  rank(elected, [&](const Candidate& c) { return std::make_tuple(!c.same_source, -c.votes, apart(c), c.distance); });
  return elected;
}

// ---- saying so -----------------------------------------------------------------------------------------------------

std::string changes(const Candidate& c, const Context& q) {
  std::vector<std::string> parts;
  const auto& then = c.best.environment;
  if (!c.same_source) parts.push_back("the kernel's source");
  if (then.driver != q.environment.driver) {
    parts.push_back(fmt::format("the driver ({} then, {} now)", then.driver, q.environment.driver));
  }
  if (then.compiler != q.environment.compiler) {
    parts.push_back(fmt::format("the compiler ({} then, {} now)", then.compiler, q.environment.compiler));
  }
  if (parts.empty()) return {};
  std::string list = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) list += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return list + (parts.size() == 1 ? " has" : " have") + " changed since";
}

std::string device_text(const DeviceRecord& device) {
  return fmt::format("{} ({} SMs)", device.name.empty() ? device.key : device.name, device.sm_count);
}

std::string explain(Tier tier, const Candidate& c, const Context& q) {
  const auto sizes = sizes_text(c.best.problem.sizes);
  const auto since = changes(c, q);
  std::string text;
  switch (tier) {
    case Tier::exact:
      return "measured on this device for exactly this problem, with this driver and compiler";
    case Tier::stale:
      return fmt::format("measured on this device for exactly this problem, but {}", since);
    case Tier::nearest_size:
      text = fmt::format("measured on this device for {}, the nearest known problem", sizes);
      break;
    case Tier::similar_device:
      text =
          fmt::format("measured on {}, the nearest known device of this compute capability, for {}",
                      device_text(c.best.device), c.best.problem.sizes == q.problem.sizes ? "the same sizes" : sizes);
      break;
    case Tier::portable:
      text = fmt::format("best for {} of {} known problems on {} devices; the nearest of them is {} on {}", c.votes,
                         c.voters, q.device.backend, sizes, device_text(c.best.device));
      break;
    case Tier::fallback:
      return {};
  }
  return since.empty() ? text : text + "; " + since;
}

}  // namespace

std::string_view name(Tier tier) {
  constexpr std::string_view names[] = {"exact", "stale", "nearest size", "similar device", "portable", "default"};
  return names[static_cast<std::size_t>(tier)];
}

WisdomMatch lookup(const Context& query, std::span<Database* const> databases, const Accept& accept,
                   const Sizes& around) {
  WisdomMatch match;
  Context near_by = query;
  if (!around.empty()) near_by.problem.sizes = around;
  Quarantine quarantine(query.device.key, query.kernel, {query.problem, near_by.problem});
  std::vector<std::vector<Candidate>> found;
  for (Database* database : databases) {
    auto& store = database->store();
    found.push_back(store.read([&] {
      quarantine.add(store);
      return near(store, near_by, query.problem.sizes);
    }));
  }
  // The first candidate of the step that can be used ends the search.
  const auto serve = [&](Step step, Database& database, const std::vector<Candidate>& candidates) {
    std::vector<std::string> refused;
    for (const auto& candidate : candidates) {
      const auto& configuration = candidate.best.configuration;
      if (candidate.step != step) continue;
      if (std::find(refused.begin(), refused.end(), configuration) != refused.end()) continue;
      auto reason = quarantine.reason_against(configuration);
      if (!reason && accept) reason = accept(configuration);
      const auto path = database.store().display_path();
      if (reason) {
        refused.push_back(configuration);
        match.rejected.push_back({kTiers[step], configuration, path, *reason});
        continue;
      }
      match.tier = kTiers[step];
      match.reason = explain(match.tier, candidate, query);
      match.database = path;
      match.shipped = database.is_shipped();
      match.best = candidate.best;
      return true;
    }
    return false;
  };
  for (const Step step : {kExact, kStale, kExactAround, kStaleAround, kNearest, kSimilar, kPortable}) {
    for (std::size_t i = 0; i < databases.size(); ++i) {
      auto& store = databases[i]->store();
      if (step == kPortable) found[i] = store.read([&] { return any_device(store, near_by); });
      if (serve(step, *databases[i], found[i])) return match;
    }
  }
  match.database = ":memory:";
  match.reason =
      match.rejected.empty()
          ? fmt::format("nothing is known about {}{}{} on {} devices", query.kernel.name,
                        query.problem.choices.empty() ? "" : " with ", query.problem.choices, query.device.backend)
          : fmt::format("none of the known configurations can be used here ({} were rejected)", match.rejected.size());
  return match;
}

}  // namespace tuner::cache
