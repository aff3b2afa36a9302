#pragma once
/// The output of `tune replay`.

#include <string>

#include <tuner/cli/json.hpp>

#include <tuner/replay/replay_run.hpp>

namespace tuner::cli {

/// A table for each space, then the means.
std::string replay_tables(const replay::ReplayReport& report);
Json to_json(const replay::ReplayReport& report);

}  // namespace tuner::cli
