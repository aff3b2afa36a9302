#include <cache/lookup.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include <cache/record_checks.hpp>
#include <cache/rows.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace {

constexpr double kFactorOfTwo = 1.0 + 1e-9;  // |log2 ratio|

struct Candidate {
  BestRecord best;
  bool same_source = false;
  bool same_software = false;
  double distance = 0;  // sum of |log2 ratio| over the sizes
  int votes = 0;        // for Tier::portable
  int voters = 0;
};

/// Sum of |log2 ratio| of the sizes; nullopt when the names differ or, with \p bound, when one is more than a factor
/// of two away. A size of zero is near to zero only.
std::optional<double> distance(const Sizes& a, const Sizes& b, bool bound) {
  if (a.size() != b.size()) return std::nullopt;
  double sum = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first) return std::nullopt;
    if (i->second == j->second) continue;
    const bool zero = i->second == 0 || j->second == 0;
    if (zero && bound) return std::nullopt;
    const double step =
        zero ? 64 : std::abs(std::log2(static_cast<double>(i->second) / static_cast<double>(j->second)));
    if (bound && step > kFactorOfTwo) return std::nullopt;
    sum += step;
  }
  return sum;
}

#define TUNER_CACHE_BEST_JOINS \
  " CROSS JOIN environment e ON e.id = b.environment_id CROSS JOIN configuration c ON c.id = b.configuration_id "

// CROSS JOIN keeps SQLite to this order, which follows the indices; without statistics it may choose another.
constexpr const char* kSameProblem =
    "SELECT " TUNER_CACHE_BEST_COLUMNS
    " FROM device d CROSS JOIN problem p CROSS JOIN kernel k CROSS JOIN best b ON b.device_id = d.id AND b.kernel_id = "
    "k.id AND b.problem_id = p.id" TUNER_CACHE_BEST_JOINS
    "WHERE d.key = ?1 AND p.choices = ?2 AND p.sizes = ?3 AND k.name = ?4 AND k.objective = ?5";
constexpr const char* kNearSizes =
    "SELECT " TUNER_CACHE_BEST_COLUMNS
    " FROM device d CROSS JOIN problem p CROSS JOIN kernel k CROSS JOIN best b ON b.device_id = d.id AND b.kernel_id = "
    "k.id AND b.problem_id = p.id" TUNER_CACHE_BEST_JOINS
    "WHERE d.key = ?1 AND p.choices = ?2 AND p.log2_first BETWEEN ?3 - 1.001 AND ?3 + 1.001 AND k.name = ?4 AND "
    "k.objective = ?5";
constexpr const char* kSimilarDevices =
    "SELECT " TUNER_CACHE_BEST_COLUMNS
    " FROM device d CROSS JOIN problem p CROSS JOIN kernel k CROSS JOIN best b ON b.device_id = d.id AND b.kernel_id = "
    "k.id AND b.problem_id = p.id" TUNER_CACHE_BEST_JOINS
    "WHERE d.backend = ?1 AND d.compute_capability = ?6 AND p.choices = ?2 AND p.log2_first BETWEEN ?3 - 1.001 AND "
    "?3 + 1.001 AND k.name = ?4 AND k.objective = ?5";
constexpr const char* kAnyDevice =
    "SELECT " TUNER_CACHE_BEST_COLUMNS
    " FROM kernel k CROSS JOIN device d CROSS JOIN best b ON b.device_id = d.id AND b.kernel_id = k.id CROSS JOIN "
    "problem p ON p.id = b.problem_id" TUNER_CACHE_BEST_JOINS
    "WHERE d.backend = ?1 AND p.choices = ?2 AND k.name = ?3 AND k.objective = ?4";

/// Reads the rows of \p row. What a row says is compared with the query again: an index may be damaged where the
/// table is not.
std::vector<Candidate> collect(Store& store, Query& row, const WisdomQuery& query, bool bound) {
  std::vector<Candidate> found;
  while (row.next()) {
    auto best = best_from(row);
    if (!best || problem_with_configuration(best->configuration)) {
      warn_of_damaged_rows(store);
      continue;
    }
    if (best->kernel.name != query.kernel.name || best->kernel.objective != query.kernel.objective ||
        best->problem.choices != query.problem.choices || best->device.backend != query.device.backend) {
      continue;
    }
    const auto far = distance(query.problem.sizes, best->problem.sizes, bound);
    if (!far) continue;
    Candidate candidate;
    candidate.same_source = best->kernel.source_hash == query.kernel.source_hash;
    candidate.same_software = best->environment.same_software(query.environment);
    candidate.distance = *far;
    candidate.best = std::move(*best);
    found.push_back(std::move(candidate));
  }
  return found;
}

/// Sorts by \p order, the best first, and settles ties so that equal contents give equal answers.
template <class Order>
void rank(std::vector<Candidate>& candidates, Order order) {
  const auto full = [&](const Candidate& c) {
    return std::tuple_cat(
        order(c),
        std::make_tuple(!c.same_software, -c.best.measured_ms, c.best.median_ns, std::string_view(c.best.configuration),
                        std::string_view(c.best.environment.driver), std::string_view(c.best.environment.compiler)));
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate& a, const Candidate& b) { return full(a) < full(b); });
}

std::vector<Candidate> same_problem(Store& store, const WisdomQuery& q) {
  Query row(store, kSameProblem, q.device.key, q.problem.choices, sizes_text(q.problem.sizes), q.kernel.name,
            q.kernel.objective);
  auto found = collect(store, row, q, true);
  std::erase_if(found, [&](const Candidate& c) {
    return c.best.device.key != q.device.key || c.best.problem.sizes != q.problem.sizes;
  });
  rank(found, [](const Candidate& c) { return std::make_tuple(!c.same_source); });
  return found;
}

std::vector<Candidate> near_sizes(Store& store, const WisdomQuery& q) {
  Query row(store, kNearSizes, q.device.key, q.problem.choices, log2_first(q.problem.sizes), q.kernel.name,
            q.kernel.objective);
  auto found = collect(store, row, q, true);
  std::erase_if(found, [&](const Candidate& c) { return c.best.device.key != q.device.key || c.distance == 0; });
  rank(found, [](const Candidate& c) { return std::make_tuple(!c.same_source, c.distance); });
  return found;
}

std::vector<Candidate> similar_devices(Store& store, const WisdomQuery& q) {
  Query row(store, kSimilarDevices, q.device.backend, q.problem.choices, log2_first(q.problem.sizes), q.kernel.name,
            q.kernel.objective, q.device.compute_capability);
  auto found = collect(store, row, q, true);
  std::erase_if(found, [&](const Candidate& c) {
    return c.best.device.key == q.device.key || c.best.device.compute_capability != q.device.compute_capability;
  });
  rank(found, [&](const Candidate& c) {
    return std::make_tuple(!c.same_source, std::abs(c.best.device.sm_count - q.device.sm_count), c.distance,
                           std::string_view(c.best.device.key));
  });
  return found;
}

/// One candidate for each configuration, with its votes; its record is the one nearest to the query.
std::vector<Candidate> any_device(Store& store, const WisdomQuery& q) {
  Query row(store, kAnyDevice, q.device.backend, q.problem.choices, q.kernel.name, q.kernel.objective);
  auto found = collect(store, row, q, false);
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

std::string changes(const Candidate& c, const WisdomQuery& q) {
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

std::string explain(Tier tier, const Candidate& c, const WisdomQuery& q) {
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
      text = fmt::format("measured on {}, the nearest known device of this compute capability, for {}",
                         device_text(c.best.device), c.distance == 0 ? "the same sizes" : sizes);
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

/// Adds to \p reasons why configurations of this kernel are quarantined on this device; most often there are none.
void collect_quarantined(Store& store, const WisdomQuery& q, std::map<std::string, std::string>& reasons) {
  Query row(store,
            "SELECT c.text, q.reason FROM kernel k CROSS JOIN quarantine q ON q.device_key = ?1 AND q.kernel_id = k.id "
            "CROSS JOIN configuration c ON c.id = q.configuration_id WHERE k.name = ?2 AND k.objective = ?3 AND "
            "k.source_hash = ?4",
            q.device.key, q.kernel.name, q.kernel.objective, q.kernel.source_hash);
  while (row.next()) reasons.emplace(row.text(0), "quarantined on this device: " + row.text(1));
}

}  // namespace

std::string_view name(Tier tier) {
  switch (tier) {
    case Tier::exact:
      return "exact";
    case Tier::stale:
      return "stale";
    case Tier::nearest_size:
      return "nearest size";
    case Tier::similar_device:
      return "similar device";
    case Tier::portable:
      return "portable";
    case Tier::fallback:
      return "default";
  }
  return "default";
}

WisdomMatch lookup(const WisdomQuery& query, std::span<Database* const> databases, const Accept& accept) {
  WisdomMatch match;
  std::map<std::string, std::string> quarantined;
  // The first candidate of the tier that can be used ends the search.
  const auto serve = [&](Tier tier, Database& database, const std::vector<Candidate>& candidates) {
    std::vector<std::string> refused;
    for (const auto& candidate : candidates) {
      const auto& configuration = candidate.best.configuration;
      if (std::find(refused.begin(), refused.end(), configuration) != refused.end()) continue;
      std::optional<std::string> reason;
      if (const auto found = quarantined.find(configuration); found != quarantined.end()) reason = found->second;
      if (!reason && accept) reason = accept(configuration);
      const auto path = database.store().display_path();
      if (reason) {
        refused.push_back(configuration);
        match.rejected.push_back({tier, configuration, path, *reason});
        continue;
      }
      match.tier = tier;
      match.reason = explain(tier, candidate, query);
      match.database = path;
      match.shipped = database.read_only();
      match.best = candidate.best;
      return true;
    }
    return false;
  };
  const auto search = [&](Tier tier, std::vector<Candidate> (*find)(Store&, const WisdomQuery&)) {
    for (Database* database : databases) {
      auto& store = database->store();
      const auto candidates = store.read([&] { return find(store, query); });
      if (serve(tier, *database, candidates)) return true;
    }
    return false;
  };

  std::vector<std::vector<Candidate>> same;
  for (Database* database : databases) {
    auto& store = database->store();
    same.push_back(store.read([&] {
      collect_quarantined(store, query, quarantined);
      return same_problem(store, query);
    }));
  }
  for (const Tier tier : {Tier::exact, Tier::stale}) {
    for (std::size_t i = 0; i < databases.size(); ++i) {
      std::vector<Candidate> wanted;
      for (const auto& c : same[i]) {
        if ((c.same_source && c.same_software) == (tier == Tier::exact)) wanted.push_back(c);
      }
      if (serve(tier, *databases[i], wanted)) return match;
    }
  }
  if (search(Tier::nearest_size, near_sizes)) return match;
  if (search(Tier::similar_device, similar_devices)) return match;
  if (search(Tier::portable, any_device)) return match;
  match.database = ":memory:";
  match.reason =
      match.rejected.empty()
          ? fmt::format("nothing is known about {}{}{} on {} devices", query.kernel.name,
                        query.problem.choices.empty() ? "" : " with ", query.problem.choices, query.device.backend)
          : fmt::format("none of the known configurations can be used here ({} were rejected)", match.rejected.size());
  return match;
}

}  // namespace tuner::cache
