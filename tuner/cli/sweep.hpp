#pragma once
/// Sweeps: a table of every configuration of a small space, with its launch shape or the reason why it cannot run. Also
/// the best for each value of a parameter, choice or size. Pure.

#include <limits>

#include <tuner/cli/report.hpp>
#include <tuner/core/sub_space.hpp>

namespace tuner::cli {

/// The trials of one problem.
struct Sweep {
  Subject subject;
  std::vector<Trial> trials;  ///< the latest of a configuration counts
  std::vector<Impossible> impossible;
};

/// The rows of \p sweeps, of which there is at least one: kernel, problem, parameters, grid, block, outcome, times in
/// ns, rates, resources, metrics, reason. First the measured ones of a sweep, the fastest first, then failures, then
/// impossible ones, both with their reasons. At most \p most.
Table sweep_rows(const std::vector<Sweep>& sweeps, std::size_t most = std::numeric_limits<std::size_t>::max());

/// The fastest configuration for one value of something that varies.
struct BestFor {
  std::string value;
  const Sweep* sweep = nullptr;
  const Trial* trial = nullptr;
};
/// For each value of \p name, a parameter, choice, type or size, in declared order (sizes: ascending), the fastest
/// verified trial. Throws Error for a name that nothing has.
std::vector<BestFor> best_by(const std::vector<Sweep>& sweeps, const std::string& name);
/// Their rows, with the speed-up over the first and the gain over the value that each was made from. That is the value
/// before it, if its kernel file does not declare another.
Table by_rows(const std::vector<BestFor>& best, const std::string& name);

}  // namespace tuner::cli
