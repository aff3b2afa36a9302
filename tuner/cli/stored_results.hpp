#pragma once
/// What a database holds as results, with what they were compared with: that is said with every one.

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
  std::string reference;  ///< weaker_reference() of its tuning, "nothing", or empty: a reference of its own
};

/// The best configurations.
std::vector<StoredResult> best_results(cache::Database& database, const cache::Filter& filter);

/// What `tune --unverified` found, the first configuration by its objective of each tuning: kept as trials, never as a
/// best configuration, so that nobody is served with it.
std::vector<StoredResult> unverified_results(cache::Database& database, const cache::Filter& filter);

/// StoredResult::reference of \p best, as far as \p database has the session that measured it.
std::string reference_of(cache::Database& database, const cache::BestRecord& best);

}  // namespace tuner::cli
