#include <cache/query/lookup.hpp>

#include <deque>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <cache/query/finder.hpp>

namespace tuner::cache {
namespace {

constexpr const char* kMaybeQuarantined =
    "may be quarantined on this device: a database that may say so cannot be read now";

std::string changes(const Finder::Candidate& c, const Context& q) {
  std::vector<std::string> parts;
  const auto& then = c.best.environment;
  if (then.driver != q.environment.driver) {
    parts.push_back(fmt::format("the driver ({} then, {} now)", then.driver, q.environment.driver));
  }
  if (!q.environment.compiler.empty() && then.compiler != q.environment.compiler) {
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

/// \p lowest: the sizes that a rule was asked about.
std::string explain(Tier tier, const Finder::Candidate& c, const Context& q, const Sizes& lowest) {
  const auto sizes = sizes_text(c.best.problem.sizes);
  const auto since = changes(c, q);
  std::string text;
  switch (tier) {
    case Tier::exact:
      return q.environment.compiler.empty()
                 ? "measured on this device for exactly this problem, with this driver"
                 : "measured on this device for exactly this problem, with this driver and compiler";
    case Tier::stale:
      return fmt::format("measured on this device for exactly this problem, but {}", since);
    case Tier::rule:
      text = fmt::format(
          "measured on this device for {}, and chosen for {}{} by the rule of sizes tuned together ({})", sizes,
          sizes_text(lowest),
          lowest == q.problem.sizes ? "" : fmt::format(", where the class of {} begins,", sizes_text(q.problem.sizes)),
          c.condition);
      break;
    case Tier::nearest_size:
      text = fmt::format("measured on this device for {}, the nearest known problem", sizes);
      break;
    case Tier::similar_device:
      text =
          fmt::format("measured on {}, the nearest known device of this compute capability, for {}",
                      device_text(c.best.device), c.best.problem.sizes == q.problem.sizes ? "the same sizes" : sizes);
      break;
    case Tier::portable:
      text = fmt::format("best for {} of {}{} known problems on {} devices; the nearest of them is {} on {}", c.votes,
                         c.voters == Finder::kMostVoters ? "the nearest " : "", c.voters, q.device.backend, sizes,
                         device_text(c.best.device));
      break;
    case Tier::fallback:
      return {};
  }
  return since.empty() ? text : text + "; " + since;
}

}  // namespace

std::string_view name(Tier tier) {
  constexpr std::string_view names[] = {"exact",          "stale",    "rule",   "nearest size",
                                        "similar device", "portable", "default"};
  return names[static_cast<std::size_t>(tier)];
}

std::optional<std::vector<Sizes>> measured_sizes(const Context& query, const Sizes& most, std::size_t limit,
                                                 Database& database) {
  return Finder(database, query, query.problem.sizes, {}).sizes_up_to(most, limit);
}

WisdomMatch lookup(const Context& query, std::span<Database* const> databases, const Accept& accept,
                   const Sizes& around, const Applies& applies, const Rules& rules) {
  WisdomMatch match;
  Context near_by = query;
  if (!around.empty()) near_by.problem.sizes = around;
  std::vector<ProblemRecord> problems{query.problem};
  if (near_by.problem != query.problem) problems.push_back(near_by.problem);
  Quarantine quarantine(query.device.key, query.kernel, std::move(problems));
  std::deque<Finder> finders;
  for (Database* database : databases) finders.emplace_back(*database, near_by, query.problem.sizes, rules);
  std::vector<std::set<std::string>> refused_in(databases.size());
  std::set<const Database*> away;
  // Asks each database that is not available only once.
  const auto ask = [&](Database& database, const auto& question) -> decltype(question()) {
    if (away.contains(&database)) return {};
    try {
      return question();
    } catch (const Unavailable& error) {
      away.insert(&database);
      if (match.unavailable.empty()) match.unavailable = error.what();
      return {};
    }
  };
  for (Database* database : databases)
    if (auto why = database->why_unknown(); why && match.unavailable.empty())
      match.unavailable = fmt::format("wisdom database {} cannot be read now: {}", database->path().string(), *why);
  const auto objection = [&](const std::string& configuration, Database& own) -> std::optional<std::string> {
    for (Database* database : databases) {
      if (database == &own) continue;
      if (auto reason = ask(*database, [&] { return quarantine.reason_against(database->store(), configuration); }))
        return reason;
      if (away.contains(database)) return kMaybeQuarantined;
    }
    return accept ? accept(configuration) : std::nullopt;
  };
  // The first usable candidate ends the search.
  const auto serve = [&](Finder::Step step, std::size_t index) {
    Database& database = *databases[index];
    Finder& finder = finders[index];
    std::set<std::string>& refused = refused_in[index];
    const auto next = [&] { return finder.next(step, refused, quarantine, match.rejected); };
    while (auto candidate = ask(database, next)) {
      const auto configuration = candidate->best.configuration;
      const auto path = database.store().display_path();
      // Another result for the same configuration may apply.
      if (const auto reason = applies ? applies(candidate->best.problem.sizes) : std::nullopt) {
        const auto is_known = [&](const RejectedCandidate& one) {
          return one.configuration == configuration && one.reason == *reason;
        };
        if (std::none_of(match.rejected.begin(), match.rejected.end(), is_known))
          match.rejected.push_back({Finder::kTiers[step], configuration, path, *reason});
        continue;
      }
      if (const auto reason = objection(configuration, database)) {
        refused.insert(configuration);
        match.rejected.push_back({Finder::kTiers[step], configuration, path, *reason});
        continue;
      }
      match.tier = Finder::kTiers[step];
      match.reason = explain(match.tier, *candidate, query, near_by.problem.sizes);
      match.database = path;
      match.shipped = database.is_shipped();
      match.best = std::move(candidate->best);
      return true;
    }
    return false;
  };
  const auto has_rules = [&] {
    for (std::size_t i = 0; i < databases.size(); ++i)
      if (ask(*databases[i], [&] { return finders[i].has_rules(); })) return true;
    return false;
  };
  // A rule comes before the nearest size, unless its results are staler. Sizes of the query's class come before both.
  const auto may_follow = [&](Finder::Step step) {
    if (step == Finder::kClass) return !rules.class_end.empty() && has_rules();
    if (!match) return true;
    const bool is_fresh = query.environment.takes(match.best->environment.driver, match.best->environment.compiler);
    return step == Finder::kRule || (step == Finder::kStaleRule && !is_fresh);
  };
  for (const Finder::Step step : Finder::kSteps) {
    if (!may_follow(step)) continue;
    for (std::size_t i = 0; i < databases.size(); ++i) {
      if (!serve(step, i)) continue;
      if (step != Finder::kNearest) return match;
      break;
    }
  }
  if (match) return match;
  int others = 0;
  for (std::size_t i = 0; i < databases.size(); ++i)
    others += ask(*databases[i], [&] { return finders[i].of_other_sources(); });
  match.database = ":memory:";
  if (match.rejected.empty() && !match.unavailable.empty()) {
    match.reason = match.unavailable;
    return match;
  }
  match.reason =
      !match.rejected.empty()
          ? fmt::format("none of the known configurations can be used here ({} {} rejected: {})", match.rejected.size(),
                        match.rejected.size() == 1 ? "was" : "were", match.rejected.front().reason)
          : fmt::format("nothing is known about {}{}{}{} on {} devices", others > 0 ? "the present source of " : "",
                        query.kernel.name, query.problem.choices.empty() ? "" : " with ", query.problem.choices,
                        query.device.backend);
  if (match.rejected.empty() && others > 0)
    match.reason += fmt::format("; {}{} of other sources {} not used, as {} not verified with this one",
                                others >= Finder::kMostCounted ? "at least " : "",
                                others == 1 ? "1 result" : fmt::format("{} results", others),
                                others == 1 ? "is" : "are", others == 1 ? "it was" : "they were");
  return match;
}

}  // namespace tuner::cache
