#pragma once
/// The results in a database, each with what it was compared with.

#include <string>
#include <vector>

#include <cache/browse.hpp>
#include <cache/records.hpp>

#include <tuner/cli/table.hpp>

namespace tuner::cli {

/// People see an objective only where it is not time.
Cell objective_cell(const std::string& objective);

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

}  // namespace tuner::cli
