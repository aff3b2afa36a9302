#pragma once
/// What an import or a merge changed.

#include <string>

#include <cache/exchange.hpp>

#include <tuner/cli/json.hpp>

namespace tuner::cli {

/// `SOURCE  new: 3 best configurations, 1 session, 40 trials, 0 in quarantine; known already: 2` and a line end.
std::string counts_text(const std::string& source, const cache::ImportCount& count);
Json counts_json(const std::string& source, const cache::ImportCount& count);

}  // namespace tuner::cli
