#pragma once
/// What limits a measured configuration, for people and for programs.

#include <string>
#include <vector>

#include <tuner/cli/json.hpp>
#include <tuner/cli/report.hpp>
#include <tuner/explain/verdict.hpp>

namespace tuner::cli {

/// The verdict on \p measured; \p launches as SingleRun tells them.
Verdict verdict(const Subject& subject, const Measurement& measured, const std::vector<LaunchDetail>& launches);
/// The same on a trial of a tuning, which remembers the worst launch's resources only.
Verdict verdict(const Subject& subject, const Trial& trial);

/// `device memory: it moves 4.1 TB/s, …` and, where counters did not take part, that the model says so.
std::string limit_text(const Verdict& verdict);
Json to_json(const Verdict& verdict);

}  // namespace tuner::cli
