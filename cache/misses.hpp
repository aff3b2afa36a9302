#pragma once
/// Calls that were served without a result for their problem, remembered until it is tuned: what `tune todo` lists.
/// They are notes about the use of one machine, neither exported nor merged.

#include <cstdint>
#include <vector>

#include <cache/browse.hpp>
#include <cache/database.hpp>
#include <cache/records.hpp>

namespace tuner::cache {

/// Misses that a database keeps; the longest unseen are dropped.
inline constexpr std::int64_t kMaxMisses = 10'000;

/// Adds the calls of \p counted to what is remembered of the same problems. One whose problem has a result by now is
/// left out. Throws CacheError for a record that cannot be stored, and for a database that cannot be written.
void remember_misses(Database& database, const std::vector<MissRecord>& counted);

/// Those without a result in \p database, or with one of a tuning that was cut short; the most time spent first, then
/// the most calls.
std::vector<MissRecord> misses(Database& database, const Filter& filter = {});

/// Forgets those of \p filter, or \p miss alone. Returns how many there were.
std::int64_t forget_misses(Database& database, const Filter& filter);
std::int64_t forget_miss(Database& database, const MissRecord& miss);

}  // namespace tuner::cache
