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

/// Best rows of some devices and problems, for choices ?1, kernel ?2 and objective ?3. CROSS JOIN keeps SQLite to this
/// order, which follows the indices; without statistics it may choose another.
std::string select_where(const char* conditions) {
  return "SELECT " + best_columns() +
         " FROM device d CROSS JOIN problem p CROSS JOIN kernel k"
         " CROSS JOIN best b ON b.device_id = d.id AND b.kernel_id = k.id AND b.problem_id = p.id"
         " CROSS JOIN environment e ON e.id = b.environment_id"
         " CROSS JOIN configuration c ON c.id = b.configuration_id"
         " WHERE p.choices = ?1 AND k.kernel = ?2 AND k.objective = ?3 AND " +
         conditions;
}

/// Reads the rows of \p row. What a row says is compared with the query again: an index may be damaged where the
/// table is not.
std::vector<Candidate> collect(Store& store, Query&& row, const WisdomQuery& query, bool bound) {
  std::vector<Candidate> found;
  while (row.next()) {
    BestRecord best;
    if (!take(row, best) || problem_with(best)) {
      warn_of_damaged_rows(store);
      continue;
    }
    if (best.kernel.name != query.kernel.name || best.kernel.objective != query.kernel.objective ||
        best.problem.choices != query.problem.choices || best.device.backend != query.device.backend) {
      continue;
    }
    const auto far = distance(query.problem.sizes, best.problem.sizes, bound);
    if (!far) continue;
    Candidate candidate;
    candidate.same_source = best.kernel.source_hash == query.kernel.source_hash;
    candidate.same_software = best.environment.same_software(query.environment);
    candidate.distance = *far;
    candidate.best = std::move(best);
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
  static const std::string sql = select_where("d.key = ?4 AND p.sizes = ?5");
  auto found = collect(store,
                       Query(store, sql, q.problem.choices, q.kernel.name, q.kernel.objective, q.device.key,
                             sizes_text(q.problem.sizes)),
                       q, true);
  std::erase_if(found, [&](const Candidate& c) {
    return c.best.device.key != q.device.key || c.best.problem.sizes != q.problem.sizes;
  });
  rank(found, [](const Candidate& c) { return std::make_tuple(!c.same_source); });
  return found;
}

std::vector<Candidate> exact(Store& store, const WisdomQuery& q) {
  auto found = same_problem(store, q);
  std::erase_if(found, [](const Candidate& c) { return !c.same_source || !c.same_software; });
  return found;
}

std::vector<Candidate> stale(Store& store, const WisdomQuery& q) {
  auto found = same_problem(store, q);
  std::erase_if(found, [](const Candidate& c) { return c.same_source && c.same_software; });
  return found;
}

std::vector<Candidate> near_sizes(Store& store, const WisdomQuery& q) {
  static const std::string sql = select_where("d.key = ?4 AND p.log2_first BETWEEN ?5 - 1.001 AND ?5 + 1.001");
  auto found = collect(store,
                       Query(store, sql, q.problem.choices, q.kernel.name, q.kernel.objective, q.device.key,
                             log2_first(q.problem.sizes)),
                       q, true);
  std::erase_if(found, [&](const Candidate& c) { return c.best.device.key != q.device.key || c.distance == 0; });
  rank(found, [](const Candidate& c) { return std::make_tuple(!c.same_source, c.distance); });
  return found;
}

std::vector<Candidate> similar_devices(Store& store, const WisdomQuery& q) {
  static const std::string sql =
      select_where("d.backend = ?4 AND d.compute_capability = ?5 AND p.log2_first BETWEEN ?6 - 1.001 AND ?6 + 1.001");
  auto found = collect(store,
                       Query(store, sql, q.problem.choices, q.kernel.name, q.kernel.objective, q.device.backend,
                             q.device.compute_capability, log2_first(q.problem.sizes)),
                       q, true);
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
  static const std::string sql = select_where("d.backend = ?4");
  auto found = collect(store, Query(store, sql, q.problem.choices, q.kernel.name, q.kernel.objective, q.device.backend),
                       q, false);
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

/// What is quarantined for a query, by the databases that were asked.
class Quarantine {
 public:
  void add(Store& store, const WisdomQuery& q) {
    Query row(store, select_quarantine());
    while (row.next()) {
      QuarantineRecord record;
      const bool sound = take(row, record);
      if (!sound) warn_of_damaged_rows(store);
      const bool device = record.device_key == q.device.key, kernel = record.kernel == q.kernel;
      if (device && kernel) reasons_.emplace(record.configuration, "quarantined on this device: " + record.reason);
      if (sound) continue;
      // It names a configuration that kills, and one part of it has been changed. Whatever it may have named is passed
      // over.
      if (device && kernel) damaged_ = true;
      if (device || kernel) reasons_.emplace(record.configuration, kDamaged);
    }
  }
  std::optional<std::string> reason_against(const std::string& configuration) const {
    if (const auto found = reasons_.find(configuration); found != reasons_.end()) return found->second;
    return damaged_ ? std::optional<std::string>(kDamaged) : std::nullopt;
  }

 private:
  static constexpr const char* kDamaged =
      "may be quarantined on this device: that row of the database is damaged (see `tune cache doctor`)";

  std::map<std::string, std::string> reasons_;
  bool damaged_ = false;
};

}  // namespace

std::string_view name(Tier tier) {
  constexpr std::string_view names[] = {"exact", "stale", "nearest size", "similar device", "portable", "default"};
  return names[static_cast<std::size_t>(tier)];
}

WisdomMatch lookup(const WisdomQuery& query, std::span<Database* const> databases, const Accept& accept) {
  WisdomMatch match;
  Quarantine quarantine;
  // The first candidate of the tier that can be used ends the search.
  const auto serve = [&](Tier tier, Database& database, const std::vector<Candidate>& candidates) {
    std::vector<std::string> refused;
    for (const auto& candidate : candidates) {
      const auto& configuration = candidate.best.configuration;
      if (std::find(refused.begin(), refused.end(), configuration) != refused.end()) continue;
      auto reason = quarantine.reason_against(configuration);
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
      match.shipped = database.is_shipped();
      match.best = candidate.best;
      return true;
    }
    return false;
  };
  for (Database* database : databases) {
    auto& store = database->store();
    store.read([&] {
      quarantine.add(store, query);
      return true;
    });
  }
  constexpr std::pair<Tier, std::vector<Candidate> (*)(Store&, const WisdomQuery&)> tiers[] = {
      {Tier::exact, exact},
      {Tier::stale, stale},
      {Tier::nearest_size, near_sizes},
      {Tier::similar_device, similar_devices},
      {Tier::portable, any_device}};
  for (const auto& [tier, find] : tiers) {
    for (Database* database : databases) {
      auto& store = database->store();
      const auto candidates = store.read([&store, &query, find = find] { return find(store, query); });
      if (serve(tier, *database, candidates)) return match;
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
