#pragma once
/// Calls that were served without a result for their problem. They are remembered until the problem is tuned;
/// `tune show --missed` lists them. They describe the use of one machine and are neither exported nor merged.

#include <cstdint>
#include <vector>

#include <cache/browse.hpp>
#include <cache/database.hpp>
#include <cache/records.hpp>

namespace tuner::cache {

/// The largest number of misses in a database; those not seen for longest are dropped.
inline constexpr std::int64_t kMaxMisses = 10'000;

/// Adds the calls of \p counted to the stored ones of the same problems. Leaves out problems that have a result by now.
/// Throws CacheError for a record that cannot be stored and for a database that cannot be written.
void remember_misses(Database& database, const std::vector<MissRecord>& counted);

/// The misses of problems without a result in \p database, or whose last tuning was cut short. Sorted by time spent,
/// then by calls, highest first.
std::vector<MissRecord> misses(Database& database, const Filter& filter = {});

/// Forgets the misses that match \p filter, or only \p miss. Returns how many there were.
std::int64_t forget_misses(Database& database, const Filter& filter);
std::int64_t forget_miss(Database& database, const MissRecord& miss);

}  // namespace tuner::cache
