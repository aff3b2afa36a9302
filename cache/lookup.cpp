#include <cache/lookup.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <cache/places.hpp>
#include <cache/rows.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace {

/// In the order in which they are searched; each belongs to a tier.
enum Step { kExact, kStale, kExactAround, kStaleAround, kNearest, kSimilar, kPortable };
constexpr Tier kTiers[] = {Tier::exact,        Tier::stale,          Tier::nearest_size, Tier::nearest_size,
                           Tier::nearest_size, Tier::similar_device, Tier::portable};

struct Candidate {
  BestRecord best;
  int votes = 0;  // for kPortable
  int voters = 0;
};

/// The values that rank a row; its checksum is not verified yet.
struct RankedRow {
  std::int64_t id = 0, compute_capability = 0;
  std::string key;
  Sizes sizes;
  std::string configuration, driver, compiler;
  std::int64_t measured_ms = 0;
  double median_ns = 0;
  bool other_software = false;
  int votes = 0;
  std::array<double, 3> rank = {};

  /// The best row is the least. Breaks ties so that equal contents give equal answers.
  auto order() const {
    return std::make_tuple(rank, std::string_view(key), other_software, -measured_ms, median_ns,
                           std::string_view(configuration), std::string_view(driver), std::string_view(compiler));
  }
};
/// Heap order: the best row is on top.
bool operator<(const RankedRow& a, const RankedRow& b) { return a.order() > b.order(); }

/// All results for the query's kernel source on one device.
struct Group {
  std::int64_t compute_capability = 0, sm_count = 0;
  std::string key = {}, source = {};
  auto order() const { return std::tie(compute_capability, sm_count, key, source); }
};
struct GroupCell {
  const Group* group = nullptr;
  Cell cell;
};
/// Heap order: the nearest cell is on top.
bool operator<(const GroupCell& a, const GroupCell& b) { return a.cell.bound > b.cell.bound; }

template <class T>
T popped(std::priority_queue<T>& heap) {
  T top = heap.top();
  heap.pop();
  return top;
}

/// This many nearest results vote in Tier::portable. More would take longer and hardly change the result.
constexpr int kMostVoters = 128;
/// A step that has refused this many results leaves the answer to the next one: all results around may be quarantined.
constexpr int kMostTried = 32;

constexpr const char* kMaybeQuarantined =
    "may be quarantined on this device: a database that would tell cannot be read now";
constexpr const char* kEntryColumns =
    "id, sizes, backend, compute_capability, key, configuration, driver, compiler, measured, "
    "median_ns";

/// Returns the results of one database, step by step, best first.
class Finder {
 public:
  /// \p own: the sizes that were asked for. \p query has the sizes around them.
  Finder(Database& database, const Context& query, const Sizes& own)
      : store_(database.store()), query_(query), own_(own) {}

  /// The next candidate of \p step with a configuration that is not in \p refused. Each call is one read of the
  /// database, so that no lock is held between calls. It also asks this database's \p quarantine, and adds to
  /// \p refused and \p rejected what that forbids: locks cost more than rows.
  std::optional<Candidate> next(Step step, std::set<std::string>& refused, Quarantine& quarantine,
                                std::vector<RejectedCandidate>& rejected) {
    if (knows_nothing_) return std::nullopt;
    bool begun = false;
    return store_.read([&]() -> std::optional<Candidate> {
      if (std::exchange(begun, true))
        throw Unavailable(fmt::format("wisdom database {} had to be opened again", store_.path().string()));
      if (!step_) {
        (void)quarantine.may_be_in(store_);
        knows_nothing_ = !rows("1", "1 LIMIT 1").next();
      }
      if (step_ != step) begin(step);
      while (tried_++ < kMostTried) {
        const auto entry = next_entry();
        if (!entry) break;
        if (refused.contains(entry->configuration)) continue;
        if (auto reason = quarantine.reason_against(store_, entry->configuration)) {
          refused.insert(entry->configuration);
          rejected.push_back({kTiers[step], entry->configuration, store_.display_path(), std::move(*reason)});
          continue;
        }
        if (auto found = candidate(*entry)) return found;
      }
      return std::nullopt;
    });
  }

  /// How many results for the query's kernel and choices are of other sources; counts no further than kMostCounted.
  int of_other_sources() {
    if (knows_nothing_) return 0;
    return store_.read([&] {
      int found = 0;
      Query row = rows("1", fmt::format("backend = ? AND source <> ? LIMIT {}", kMostCounted), query_.device.backend,
                       query_.kernel.source_hash);
      while (row.next()) ++found;
      return found;
    });
  }
  static constexpr int kMostCounted = 100;

  /// See measured_sizes().
  std::optional<std::vector<Sizes>> sizes_up_to(const Sizes& most, std::size_t limit) {
    const Sizes& least = query_.problem.sizes;
    const auto each = [](const Sizes& a, const Sizes& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [](const auto& x, const auto& y) { return x.first == y.first && x.second <= y.second; });
    };
    return store_.read([&]() -> std::optional<std::vector<Sizes>> {
      std::vector<Sizes> found;
      know_groups();
      for (const Group& group : groups_) {
        if (group.key != query_.device.key) continue;
        Query row = rows_within("sizes", group, place_of(least), place_of(most));
        while (row.next()) {
          if (limit-- == 0) return std::nullopt;
          auto sizes = parse_sizes(row.text());
          if (sizes && each(least, *sizes) && each(*sizes, most)) found.push_back(std::move(*sizes));
        }
      }
      return found;
    });
  }

 private:
  void begin(Step step) {
    step_ = step;
    tried_ = 0;
    entries_ = {};
    cells_ = {};
    waiting_.clear();
    if (knows_nothing_) return;
    if (step == kExact) return take_exact(own_);
    if (step == kExactAround && own_ != query_.problem.sizes) return take_exact(query_.problem.sizes);
    if (step <= kStaleAround) return entries_.swap(stale_);
    know_groups();
    // In falling order of trust; groups with the same rank together.
    std::map<std::int64_t, std::vector<const Group*>> ranked;
    for (const Group& group : groups_) {
      const std::int64_t apart = apart_from(group.compute_capability);
      if (step != kPortable && (apart != 0 || (group.key == query_.device.key) != (step == kNearest))) continue;
      ranked[step == kPortable ? apart : std::abs(group.sm_count - query_.device.sm_count)].push_back(&group);
    }
    for (auto& [rank, groups] : ranked) waiting_.push_back(std::move(groups));
    if (step == kPortable) elect();
  }

  std::int64_t apart_from(std::int64_t compute_capability) const {
    return std::abs(compute_capability - query_.device.compute_capability);
  }

  /// The next entry in order; opens cells and groups as they are needed.
  std::optional<RankedRow> next_entry() {
    for (;;) {
      if (!cells_.empty() && (entries_.empty() || cells_.top().cell.bound <= entries_.top().rank[0])) {
        open(popped(cells_));
      } else if (!entries_.empty()) {
        return popped(entries_);
      } else if (!waiting_.empty()) {
        // All groups of one rank together, so that their nearest sizes come first.
        for (const Group* group : waiting_.front()) cells_.push({group, {}});
        waiting_.pop_front();
      } else {
        return std::nullopt;
      }
    }
  }

  /// Rows for the kernel, objective and choices of the query.
  template <class... Arguments>
  Query rows(const char* columns, const std::string& conditions, const Arguments&... arguments) {
    return Query(store_,
                 fmt::format("SELECT {} FROM best WHERE kernel = ? AND objective = ? AND choices = ? AND {}", columns,
                             conditions),
                 query_.kernel.name, query_.kernel.objective, query_.problem.choices, arguments...);
  }

  /// Rows of a group, in a range of places.
  Query rows_within(const char* columns, const Group& of, std::int64_t first, std::int64_t last,
                    const char* limit = "") {
    constexpr const char* conditions =
        "compute_capability = ? AND sm_count = ? AND key = ? AND source = ? AND place BETWEEN ? AND ?";
    return rows(columns, std::string(conditions) + limit, of.compute_capability, of.sm_count, of.key, of.source, first,
                last);
  }

  /// Reads an entry from the row; nullopt when it does not apply or its sizes are not \p wanted.
  template <class Wanted>
  std::optional<RankedRow> taken(Query& row, const Wanted& wanted) {
    RankedRow e;
    e.id = row.integer();
    auto sizes = parse_sizes(row.text());
    if (!sizes) {
      warn_of_damaged_rows(store_);
      return std::nullopt;
    }
    if (!wanted(*sizes)) return std::nullopt;
    e.sizes = std::move(*sizes);
    const bool is_of_backend = row.text() == query_.device.backend;
    e.compute_capability = row.integer();
    e.key = row.text();
    e.configuration = row.text();
    e.driver = row.text();
    e.compiler = row.text();
    e.measured_ms = row.integer();
    e.median_ns = row.real();
    if (!is_of_backend) return std::nullopt;
    // A frozen database ranks its results the same everywhere, with any driver and compiler.
    e.other_software = !store_.is_frozen() && !query_.environment.takes(e.driver, e.compiler);
    return e;
  }

  /// Also collects the stale rows, for the next step.
  void take_exact(const Sizes& sizes) {
    stale_ = {};
    for (Query row = rows(kEntryColumns, "sizes = ? AND key = ? AND source = ?", sizes_text(sizes), query_.device.key,
                          query_.kernel.source_hash);
         row.next();) {
      auto entry = taken(row, [](const Sizes&) { return true; });
      if (!entry) continue;
      const bool fresh = query_.environment.takes(entry->driver, entry->compiler);
      (fresh ? entries_ : stale_).push(std::move(*entry));
    }
  }

  /// Finds the groups by index, skipping from one to the next: the rows between are not read.
  void know_groups() {
    if (std::exchange(known_groups_, true)) return;
    for (Group last{.compute_capability = -1};;) {
      Query row = rows("compute_capability, sm_count, key, source",
                       "(compute_capability, sm_count, key, source) >= (?, ?, ?, ?) ORDER BY compute_capability, "
                       "sm_count, key, source LIMIT 1",
                       last.compute_capability, last.sm_count, last.key, last.source + ' ');  // '>' would read them
      if (!row.next()) return;
      const Group next{row.integer(), row.integer(), row.text(), row.text()};
      if (next.order() <= last.order()) return warn_of_damaged_rows(store_);  // it would come again and again
      last = next;
      if (last.source == query_.kernel.source_hash) groups_.push_back(last);
    }
  }

  void take_near(Query&& row) {
    const auto is_near = [&](const Sizes& sizes) {
      return step_ == kPortable ? may_tell(sizes) : alike({query_.problem.choices, sizes}, query_.problem);
    };
    while (row.next()) {
      auto entry = taken(row, is_near);
      if (!entry) continue;
      entry->rank[0] = *distance(entry->sizes, query_.problem.sizes);
      entries_.push(std::move(*entry));
    }
  }

  /// Reads the rows of a cell; divides the cell first if it has many.
  void open(const GroupCell& at) {
    const auto ask = [&](const char* columns, const char* limit) {
      return rows_within(columns, *at.group, at.cell.first, at.cell.last, limit);
    };
    const auto parts = ask("1", " LIMIT 1 OFFSET 16").next()
                           ? divided(at.cell, query_.problem.sizes, step_ == kPortable)
                           : std::vector<Cell>();
    if (parts.empty()) return take_near(ask(kEntryColumns, ""));
    for (const Cell& part : parts) cells_.push({at.group, part});
  }

  /// The nearest results vote: the configuration with the most votes comes first.
  void elect() {
    std::map<std::string, RankedRow> elected;
    for (voters_ = 0; voters_ < kMostVoters; ++voters_) {
      auto entry = next_entry();
      if (!entry) break;
      entry->rank = {0, static_cast<double>(apart_from(entry->compute_capability)), entry->rank[0]};
      RankedRow& nearest = elected.try_emplace(entry->configuration, std::move(*entry)).first->second;
      nearest.votes += 1;
    }
    entries_ = {};
    cells_ = {};
    waiting_.clear();
    for (auto& [configuration, entry] : elected) {
      entry.rank[0] = -entry.votes;
      entries_.push(std::move(entry));
    }
  }

  /// Whether a result for \p sizes applies to the query. A result for size 0 says nothing about other sizes.
  bool may_tell(const Sizes& sizes) const {
    const auto& wanted = query_.problem.sizes;
    return distance(sizes, wanted) && std::equal(sizes.begin(), sizes.end(), wanted.begin(),
                                                 [](auto& a, auto& b) { return a.second != 0 || b.second == 0; });
  }

  /// Reads the record of an entry; nullopt when it is damaged or differs from the index that led to it. An index may be
  /// damaged while its table is sound.
  std::optional<Candidate> candidate(const RankedRow& entry) {
    Query row(store_, statements<BestRecord>().select + " WHERE id = ?", entry.id);
    if (!row.next()) return std::nullopt;
    Candidate found;
    BestRecord& best = found.best;
    if (!take(row, best)) {
      warn_of_damaged_rows(store_);
      return std::nullopt;
    }
    if (best.kernel != query_.kernel || best.problem.choices != query_.problem.choices ||
        best.device.backend != query_.device.backend || best.configuration != entry.configuration ||
        best.problem.sizes != entry.sizes) {
      return std::nullopt;
    }
    found.votes = entry.votes;
    found.voters = voters_;
    if (step_ != kPortable && step_ != step_of(best)) return std::nullopt;
    return found;
  }

  Step step_of(const BestRecord& best) const {
    const bool fresh = query_.environment.takes(best.environment.driver, best.environment.compiler);
    if (best.device.key != query_.device.key)
      return best.device.compute_capability == query_.device.compute_capability ? kSimilar : kPortable;
    if (best.problem.sizes == own_) return fresh ? kExact : kStale;
    if (best.problem.sizes == query_.problem.sizes) return fresh ? kExactAround : kStaleAround;
    return kNearest;
  }

  Store& store_;
  const Context& query_;
  const Sizes& own_;
  std::optional<Step> step_;
  bool knows_nothing_ = false;  // about this kernel, objective and choices
  std::priority_queue<RankedRow> entries_;
  std::priority_queue<RankedRow> stale_;  // for the next step
  std::priority_queue<GroupCell> cells_;
  std::deque<std::vector<const Group*>> waiting_;
  bool known_groups_ = false;
  std::vector<Group> groups_;
  int voters_ = 0;
  int tried_ = 0;  // in this step
};

// ---- explanations --------------------------------------------------------------------------------------------------

std::string changes(const Candidate& c, const Context& q) {
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

std::string explain(Tier tier, const Candidate& c, const Context& q) {
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
                         c.voters == kMostVoters ? "the nearest " : "", c.voters, q.device.backend, sizes,
                         device_text(c.best.device));
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

std::optional<std::vector<Sizes>> measured_sizes(const Context& query, const Sizes& most, std::size_t limit,
                                                 Database& database) {
  return Finder(database, query, query.problem.sizes).sizes_up_to(most, limit);
}

WisdomMatch lookup(const Context& query, std::span<Database* const> databases, const Accept& accept,
                   const Sizes& around, const Applies& applies) {
  WisdomMatch match;
  Context near_by = query;
  if (!around.empty()) near_by.problem.sizes = around;
  std::vector<ProblemRecord> problems{query.problem};
  if (near_by.problem != query.problem) problems.push_back(near_by.problem);
  Quarantine quarantine(query.device.key, query.kernel, std::move(problems));
  std::deque<Finder> finders;
  for (Database* database : databases) finders.emplace_back(*database, near_by, query.problem.sizes);
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
  const auto serve = [&](Step step, Database& database, Finder& finder) {
    std::set<std::string> refused;
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
          match.rejected.push_back({kTiers[step], configuration, path, *reason});
        continue;
      }
      if (const auto reason = objection(configuration, database)) {
        refused.insert(configuration);
        match.rejected.push_back({kTiers[step], configuration, path, *reason});
        continue;
      }
      match.tier = kTiers[step];
      match.reason = explain(match.tier, *candidate, query);
      match.database = path;
      match.shipped = database.is_shipped();
      match.best = std::move(candidate->best);
      return true;
    }
    return false;
  };
  for (const Step step : {kExact, kStale, kExactAround, kStaleAround, kNearest, kSimilar, kPortable})
    for (std::size_t i = 0; i < databases.size(); ++i)
      if (serve(step, *databases[i], finders[i])) return match;
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
