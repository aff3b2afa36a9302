#pragma once
/// What an import or a merge changed, in a sentence.

#include <string>

#include <cache/exchange.hpp>

namespace tuner::cli {

/// `3 best configurations, 1 session with 40 trials are new; 2 were known`.
std::string import_text(const cache::ImportCount& count);

}  // namespace tuner::cli
