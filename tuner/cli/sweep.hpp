#pragma once
/// Sweeps: a table of every configuration of a small space, with its launch shape or the reason why it cannot run. Also
/// the best for each value of a parameter, choice or size. Pure.

#include <string>
#include <vector>

#include <tuner/cli/json.hpp>
#include <tuner/cli/report.hpp>
#include <tuner/core/sub_space.hpp>

namespace tuner::cli {

/// The trials of one problem.
struct Sweep {
  Subject subject;
  std::vector<Trial> trials;  ///< the latest of a configuration counts
  std::vector<Impossible> impossible;
};

/// At most \p rows configurations with grid and block: first the measured ones, the fastest first, then failures, then
/// impossible ones, both with their reasons.
std::string sweep_table(const Sweep& sweep, const Style& style, std::size_t rows);

/// All rows of \p sweeps: kernel, problem, parameters, grid, block, outcome, times in ns, rates, resources, metrics,
/// reason; RFC 4180.
std::string sweep_csv(const std::vector<Sweep>& sweeps);

/// The fastest configuration for one value of something that varies.
struct BestFor {
  std::string value;
  const Sweep* sweep = nullptr;
  const Trial* trial = nullptr;
};
/// For each value of \p name, a parameter, choice, type or size, in declared order (sizes: ascending), the fastest
/// verified trial. Throws Error for a name that nothing has.
std::vector<BestFor> best_by(const std::vector<Sweep>& sweeps, const std::string& name);
/// The same as a table, with the gain over the value that each was made from (the one before it, if its kernel file
/// does not declare another), and the speed-up over the first.
std::string by_table(const std::vector<BestFor>& best, const std::string& name, const Style& style);
Json json_by(const std::vector<BestFor>& best, const std::string& name);

}  // namespace tuner::cli
