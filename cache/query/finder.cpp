#include <cache/query/finder.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace tuner::cache {
namespace {

/// A step that has refused this many results leaves the answer to the next one: all results around may be quarantined.
constexpr int kMostTried = 32;

/// Only the newest results with a rule are read.
constexpr int kMostWithRule = 1024;

constexpr const char* kEntryColumns =
    "id, sizes, backend, compute_capability, key, configuration, driver, compiler, measured, "
    "median_ns";

template <class T>
T popped(std::priority_queue<T>& heap) {
  T top = heap.top();
  heap.pop();
  return top;
}

}  // namespace

std::optional<Finder::Candidate> Finder::next(Step step, std::set<std::string>& refused, Quarantine& quarantine,
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

bool Finder::has_rules() {
  if (!rules_.read) return false;
  return store_.read([&] {
    return rows("1", "key = ? AND source = ? AND rule <> '' LIMIT 1", query_.device.key, query_.kernel.source_hash)
        .next();
  });
}

int Finder::of_other_sources() {
  if (knows_nothing_) return 0;
  return store_.read([&] {
    int found = 0;
    Query row = rows("1", fmt::format("backend = ? AND source <> ? LIMIT {}", kMostCounted), query_.device.backend,
                     query_.kernel.source_hash);
    while (row.next()) ++found;
    return found;
  });
}

std::optional<std::vector<Sizes>> Finder::sizes_up_to(const Sizes& most, std::size_t limit) {
  return store_.read([&]() -> std::optional<std::vector<Sizes>> {
    std::vector<Sizes> found;
    know_groups();
    for (const Group& group : groups_) {
      if (group.key != query_.device.key) continue;
      Query row = rows_within("sizes", group, place_of(query_.problem.sizes), place_of(most));
      while (row.next()) {
        if (limit-- == 0) return std::nullopt;
        auto sizes = parse_sizes(row.text());
        if (sizes && is_between(*sizes, most)) found.push_back(std::move(*sizes));
      }
    }
    return found;
  });
}

void Finder::begin(Step step) {
  step_ = step;
  tried_ = 0;
  entries_ = {};
  cells_ = {};
  waiting_.clear();
  if (knows_nothing_) return;
  if (step == kExact) return take_exact(own_);
  if (step == kExactAround && own_ != query_.problem.sizes) return take_exact(query_.problem.sizes);
  if (step == kRule) return take_chosen();
  if (step <= kStaleAround || step == kStaleRule) return entries_.swap(stale_);
  if (step == kClass) reach_ = distance(query_.problem.sizes, rules_.class_end).value_or(-1);
  know_groups();
  // In falling order of trust; groups with the same rank together.
  std::map<std::int64_t, std::vector<const Group*>> ranked;
  for (const Group& group : groups_) {
    const std::int64_t apart = apart_from(group.compute_capability);
    if (step != kPortable && (apart != 0 || (group.key == query_.device.key) != (step <= kNearest))) continue;
    ranked[step == kPortable ? apart : std::abs(group.sm_count - query_.device.sm_count)].push_back(&group);
  }
  for (auto& [rank, groups] : ranked) waiting_.push_back(std::move(groups));
  if (step == kPortable) elect();
}

std::int64_t Finder::apart_from(std::int64_t compute_capability) const {
  return std::abs(compute_capability - query_.device.compute_capability);
}

std::optional<Finder::RankedRow> Finder::next_entry() {
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

template <class... Arguments>
Query Finder::rows(const char* columns, const std::string& conditions, const Arguments&... arguments) {
  return Query(
      store_,
      fmt::format("SELECT {} FROM best WHERE kernel = ? AND objective = ? AND choices = ? AND {}", columns, conditions),
      query_.kernel.name, query_.kernel.objective, query_.problem.choices, arguments...);
}

Query Finder::rows_within(const char* columns, const Group& of, std::int64_t first, std::int64_t last,
                          const char* limit) {
  constexpr const char* conditions =
      "compute_capability = ? AND sm_count = ? AND key = ? AND source = ? AND place BETWEEN ? AND ?";
  return rows(columns, std::string(conditions) + limit, of.compute_capability, of.sm_count, of.key, of.source, first,
              last);
}

template <class Wanted>
std::optional<Finder::RankedRow> Finder::taken(Query& row, const Wanted& wanted) {
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

void Finder::take_exact(const Sizes& sizes) {
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

void Finder::take_chosen() {
  stale_ = {};
  if (!rules_.read) return;
  const std::string columns = std::string(kEntryColumns) + ", rule";
  Query row = rows(columns.c_str(),
                   fmt::format("key = ? AND source = ? AND rule <> '' ORDER BY id DESC LIMIT {}", kMostWithRule),
                   query_.device.key, query_.kernel.source_hash);
  std::map<std::string, std::optional<RuleChoice>> choices;
  while (row.next()) {
    auto entry = taken(row, [&](const Sizes& sizes) { return distance(sizes, query_.problem.sizes).has_value(); });
    if (!entry) continue;
    const std::string rule = row.text();
    const auto [choice, is_new] = choices.try_emplace(rule);
    if (is_new) choice->second = choice_of(rule);
    if (!choice->second || choice->second->configuration != entry->configuration) continue;
    entry->rank[0] = *distance(entry->sizes, query_.problem.sizes);
    (entry->other_software ? stale_ : entries_).push(std::move(*entry));
  }
}

std::optional<RuleChoice> Finder::choice_of(const std::string& rule) const {
  return rules_.read && !rule.empty() ? rules_.read(rule, query_.problem.sizes) : std::nullopt;
}

void Finder::know_groups() {
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

bool Finder::is_between(const Sizes& sizes, const Sizes& most) const {
  const auto each = [](const Sizes& a, const Sizes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first && x.second <= y.second; });
  };
  return each(query_.problem.sizes, sizes) && each(sizes, most);
}

void Finder::take_near(Query&& row) {
  const auto is_near = [&](const Sizes& sizes) {
    if (step_ == kClass) return is_between(sizes, rules_.class_end);
    return step_ == kPortable ? may_tell(sizes) : alike({query_.problem.choices, sizes}, query_.problem);
  };
  while (row.next()) {
    auto entry = taken(row, is_near);
    if (!entry) continue;
    entry->rank[0] = *distance(entry->sizes, query_.problem.sizes);
    entries_.push(std::move(*entry));
  }
}

void Finder::open(const GroupCell& at) {
  if (step_ == kClass && at.cell.bound > reach_) return;
  const auto ask = [&](const char* columns, const char* limit) {
    return rows_within(columns, *at.group, at.cell.first, at.cell.last, limit);
  };
  const auto parts = ask("1", " LIMIT 1 OFFSET 16").next() ? divided(at.cell, query_.problem.sizes, step_ == kPortable)
                                                           : std::vector<Cell>();
  if (parts.empty()) return take_near(ask(kEntryColumns, ""));
  for (const Cell& part : parts) cells_.push({at.group, part});
}

void Finder::elect() {
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

bool Finder::may_tell(const Sizes& sizes) const {
  const auto& wanted = query_.problem.sizes;
  return distance(sizes, wanted) && std::equal(sizes.begin(), sizes.end(), wanted.begin(),
                                               [](auto& a, auto& b) { return a.second != 0 || b.second == 0; });
}

std::optional<Finder::Candidate> Finder::candidate(const RankedRow& entry) {
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
  if (step_ == kRule || step_ == kStaleRule) {
    const auto choice = choice_of(best.rule);
    if (!choice || choice->configuration != best.configuration || best.device.key != query_.device.key)
      return std::nullopt;
    found.condition = choice->condition;
    return found;
  }
  if (step_ != kPortable && step_ != step_of(best) && (step_ != kClass || step_of(best) != kNearest))
    return std::nullopt;
  return found;
}

Finder::Step Finder::step_of(const BestRecord& best) const {
  const bool fresh = query_.environment.takes(best.environment.driver, best.environment.compiler);
  if (best.device.key != query_.device.key)
    return best.device.compute_capability == query_.device.compute_capability ? kSimilar : kPortable;
  if (best.problem.sizes == own_) return fresh ? kExact : kStale;
  if (best.problem.sizes == query_.problem.sizes) return fresh ? kExactAround : kStaleAround;
  return kNearest;
}

}  // namespace tuner::cache
