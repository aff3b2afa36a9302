#pragma once
/// What `tune replay` prints of a report.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tuner/replay/replay_run.hpp>

namespace tuner::cli {

/// A table for each space, and the means last.
std::string replay_tables(const replay::ReplayReport& report);
nlohmann::ordered_json to_json(const replay::ReplayReport& report);

}  // namespace tuner::cli
