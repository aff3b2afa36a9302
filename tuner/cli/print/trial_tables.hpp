#pragma once
/// Tables of trials: the best of a tuning, and the best for each value of a parameter, choice or size. Of a small space
/// also every configuration, with its launch shape or the reason why it cannot run. Pure.

#include <limits>

#include <tuner/cli/print/table.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/measure/numbers/throughput.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::cli {

/// The kernel, problem and device of a tuning, and its objective.
struct Subject {
  const KernelSpec* spec = nullptr;
  const ProblemSize* size = nullptr;
  const Device* device = nullptr;
  Objective objective;
  std::vector<std::string> metrics = {};    ///< shown as columns if trials have them
  std::vector<std::string> trade_off = {};  ///< objectives whose front is printed
  bool verified = true;                     ///< false: results were compared with nothing
  std::string reference = {};               ///< weaker_reference(): printed with the result
};

/// The configurations that the rows of a table name.
struct Winners {
  std::optional<Configuration> best = {};
  std::vector<Configuration> ties = {};
};

/// The rates of a run of \p ns.
Throughput rates(const Subject& subject, double ns);

/// Whether some of \p trials were measured again, so that they have times of two kinds.
bool has_finalist(const std::vector<Trial>& trials);

/// The latest of \p trials of each configuration: those with a value of the objective first and best first, then the
/// others as they came. Compares only times of one kind. The finalists that no other configuration beat in the search
/// come first, by their second time, then the others by their first.
std::vector<const Trial*> ranked(const Subject& subject, const std::vector<Trial>& trials);
/// The trials that can be the best, in the order of the table.
std::vector<const Trial*> candidates(const Subject& subject, const std::vector<Trial>& trials);
/// The ten best measured configurations in the order of candidates(), and, if they are not among them, the best and the
/// kernel's default. These and the ties are marked.
std::string best_table(const Subject& subject, const std::vector<Trial>& trials, const Style& style,
                       std::size_t rows = 10, const Winners& winners = {});

/// The trials of one problem.
struct Sweep {
  Subject subject;
  std::vector<Trial> trials;  ///< the latest of a configuration counts
  std::vector<Impossible> impossible;
  Winners winners = {};
};

/// The rows of \p sweeps, of which there is at least one: kernel, problem, parameters, grid, block, outcome, times in
/// ns, rates, resources, metrics, reason. First the measured ones of a sweep in the order of candidates(), then
/// failures, then impossible ones, both with their reasons. At most \p most, and the best and the default of each.
Table sweep_rows(const std::vector<Sweep>& sweeps, std::size_t most = std::numeric_limits<std::size_t>::max());

/// The trial that was the fastest in the search for each value of \p name, a parameter, choice, type or size, in
/// declared order (sizes: ascending). Beside it stand the speed-up over the first and the gain over the value that each
/// was made from. That is the value before it, if its kernel file does not declare another. Throws UsageError for a
/// name that nothing has.
Table best_by(const std::vector<Sweep>& sweeps, const std::string& name);

}  // namespace tuner::cli
