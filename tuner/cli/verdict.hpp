#pragma once
/// What limits a measured configuration, for people and for programs.

#include <string>

#include <tuner/cli/json.hpp>
#include <tuner/explain/verdict.hpp>

namespace tuner::cli {

/// `device memory: it moves 4.1 TB/s, …` and, where counters did not take part, that the model says so.
std::string limit_text(const Verdict& verdict);
Json to_json(const Verdict& verdict);

}  // namespace tuner::cli
