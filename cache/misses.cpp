#include <cache/misses.hpp>

#include <algorithm>
#include <tuple>

#include <cache/record_checks.hpp>
#include <cache/rows.hpp>

namespace tuner::cache {
namespace {

/// The problem has a result, and its last tuning, if any, was not cut short.
constexpr const char* kTunedMeanwhile =
    "EXISTS (SELECT 1 FROM best b WHERE (b.kernel, b.objective, b.choices, b.sizes, b.key) = (miss.kernel, "
    "miss.objective, miss.choices, miss.sizes, miss.device_key)) AND coalesce((SELECT s.finished IS NOT NULL FROM "
    "session s WHERE (s.kernel, s.objective, s.choices, s.sizes, s.key) = (miss.kernel, miss.objective, miss.choices, "
    "miss.sizes, miss.device_key) ORDER BY s.started DESC, s.id DESC LIMIT 1), 1)";

/// The stored miss with the calls of \p more added.
MissRecord added(MissRecord known, const MissRecord& more) {
  known.kernel = more.kernel;
  if (!more.file.empty()) known.file = more.file;
  known.served = more.served;
  known.calls += more.calls;
  if (more.each_ns > 0) known.each_ns = more.each_ns;
  known.first_ms = std::min(known.first_ms, more.first_ms);
  known.last_ms = std::max(known.last_ms, more.last_ms);
  return known;
}

}  // namespace

void remember_misses(Database& database, const std::vector<MissRecord>& counted) {
  for (const MissRecord& miss : counted)
    if (const auto trouble = problem_with(miss)) throw CacheError("cannot remember a miss: " + *trouble);
  auto& store = database.store();
  static const std::string& tuned =
      *new std::string("DELETE FROM miss" + same_identity<MissRecord>() + " AND " + kTunedMeanwhile);
  static const std::string& surplus = *new std::string(fmt::format(
      "DELETE FROM miss WHERE (SELECT count(*) FROM miss) > {0} AND id NOT IN (SELECT id FROM miss ORDER BY "
      "last_seen DESC, id DESC LIMIT {0})",
      kMaxMisses));
  store.write([&] {
    for (const MissRecord& miss : counted) {
      const auto known = stored(store, miss);
      put(store, known ? added(*known, miss) : miss);
      Query done(store, tuned);
      visit_identity(miss, Binder{done});
      done.run();
    }
    Query(store, surplus).run();
  });
}

std::vector<MissRecord> misses(Database& database, const Filter& filter) {
  auto& store = database.store();
  auto found = store.read([&] {
    if (!has_misses(store)) return std::vector<MissRecord>();
    static const std::string& sql = *new std::string(
        select_all<MissRecord>() + fmt::format("{} AND NOT ({}) ORDER BY id", kOfFilter, kTunedMeanwhile));
    return take_sound<MissRecord>(store, Query(store, sql, filter.kernel, filter.device_key));
  });
  std::stable_sort(found.begin(), found.end(), [](const MissRecord& a, const MissRecord& b) {
    return std::make_tuple(a.spent_ns(), a.calls) > std::make_tuple(b.spent_ns(), b.calls);
  });
  return found;
}

std::int64_t forget_misses(Database& database, const Filter& filter) {
  auto& store = database.store();
  static const std::string& sql = *new std::string(std::string("DELETE FROM miss") + kOfFilter);
  std::int64_t forgotten = 0;
  store.write([&] { forgotten = removed_rows(store, sql, filter.kernel, filter.device_key); });
  return forgotten;
}

std::int64_t forget_miss(Database& database, const MissRecord& miss) {
  auto& store = database.store();
  static const std::string& sql = *new std::string("DELETE FROM miss" + same_identity<MissRecord>());
  std::int64_t forgotten = 0;
  store.write([&] {
    Query row(store, sql);
    visit_identity(miss, Binder{row});
    row.run();
    forgotten = store.connection().getChanges();
  });
  return forgotten;
}

}  // namespace tuner::cache
