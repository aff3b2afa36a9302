#pragma once
/// The results in a database, with what they were verified against.

#include <string>
#include <vector>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>
#include <cache/records/stored_records.hpp>

namespace tuner {

struct StoredResult {
  cache::BestRecord best;
  std::string reference;  ///< weaker_reference() of its tuning, "nothing", or empty: the kernel's reference
};
/// The best configurations.
std::vector<StoredResult> best_results(cache::Database& database, const cache::Filter& filter);
/// The results of `tune --unverified`: the best configuration of each tuning. They are stored as trials only, so that
/// no call is served with them.
std::vector<StoredResult> unverified_results(cache::Database& database, const cache::Filter& filter);
/// StoredResult::reference of \p best, if \p database has the session that measured it; else empty.
std::string reference_of(cache::Database& database, const cache::BestRecord& best);

}  // namespace tuner
