#pragma once
/// What `tune replay` prints of a report.

#include <string>

#include <tuner/cli/json.hpp>

#include <tuner/replay/replay_run.hpp>

namespace tuner::cli {

/// A table for each space, and the means last.
std::string replay_tables(const replay::ReplayReport& report);
Json to_json(const replay::ReplayReport& report);

}  // namespace tuner::cli
