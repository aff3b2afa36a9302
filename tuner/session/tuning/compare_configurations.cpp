#include <tuner/session/tuning/compare_configurations.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/kept_images.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

/// Each has two samples (SamplingOptions::finalist_samples) of both configurations.
constexpr std::size_t kRoundsAtMost = 10, kRoundsAtLeast = 3;
/// A placement measures for about this part of the time; the rest is for starting processes.
constexpr double kPartForSamples = 0.3;
/// A process loads both at most so often: what it does not change between loads must not decide.
constexpr std::size_t kMostLoads = 4;

std::string failure_of(const Trial& trial) {
  if (trial.measurement() != nullptr && !trial.crashed) return {};
  return trial.configuration.text() + ": " + std::string(kind(trial.outcome)) + ": " +
         first_line(message(trial.outcome));
}

/// Verifies both, and returns the sum of their times in \p sum_ns.
std::string verify(Evaluator& evaluator, const Configuration& a, const Configuration& b, double& sum_ns) {
  for (const Configuration* one : {&a, &b}) evaluator.submit(*one, 0);
  std::string failure;
  for (int finished = 0; finished < 2; ++finished) {
    const Trial trial = evaluator.next();
    if (std::string why = failure_of(trial); failure.empty() && !why.empty()) failure = std::move(why);
    if (const Measurement* const measured = trial.measurement()) sum_ns += measured->median_ns;
  }
  return failure;
}

/// So that as many placements as the first look needs fit into the time.
std::size_t rounds_for(double sum_ns, const PairOptions& options) {
  constexpr double kSamplesOfRound = 2;
  const double round_s = std::max(1e-9 * kSamplesOfRound * sum_ns, 1e-9);
  const double rounds = kPartForSamples * options.seconds / static_cast<double>(kLooks.front()) / round_s;
  return static_cast<std::size_t>(
      std::clamp(rounds, static_cast<double>(kRoundsAtLeast), static_cast<double>(kRoundsAtMost)));
}

/// How often a process has to load both, if it takes \p process_s, to come to \p wanted placements in \p left_s.
std::size_t loads_for(std::size_t wanted, double left_s, double process_s) {
  if (process_s <= 0) return 1;
  const double processes = std::max(1.0, std::floor(left_s / process_s));
  const auto loads = static_cast<std::size_t>(std::ceil(static_cast<double>(wanted) / processes));
  return std::clamp<std::size_t>(loads, 1, kMostLoads);
}

}  // namespace

PairResult compare_configurations(const StartEvaluator& start, const Configuration& a, const Configuration& b,
                                  const PairOptions& options) {
  PairResult result;
  double sum_ns = 0;
  result.failure = verify(*start(kRoundsAtLeast), a, b, sum_ns);
  if (!result.failure.empty()) return result;

  const std::size_t rounds = rounds_for(sum_ns, options);
  const Clock::time_point begun = Clock::now();
  const auto left_s = [&] { return options.seconds - seconds_since(begun); };
  const auto is_stopped = [&] { return options.stop != nullptr && options.stop->load(std::memory_order_relaxed); };
  std::mt19937_64 lot(options.lot);
  std::vector<PlacementTimes> placements;
  result.comparison = compare_pairs(placements, options.margin);
  double process_s = 0;
  while (result.comparison.verdict == Difference::undecided && result.comparison.next_look != 0 && !is_stopped() &&
         left_s() > process_s) {
    const Clock::time_point process_begun = Clock::now();
    const std::size_t loads = loads_for(result.comparison.next_look - placements.size(), left_s(), process_s);
    const std::unique_ptr<Evaluator> evaluator = start(rounds);
    for (std::size_t load = 0; load < loads && left_s() > 0; ++load) {
      const bool is_turned = lot() % 2 == 1;
      const Configuration both[] = {is_turned ? b : a, is_turned ? a : b};
      const Placement placement = load == 0 ? Placement::present : Placement::new_memory;
      const std::vector<Trial> trials = evaluator->remeasure(both, left_s(), is_stopped, placement);
      if (trials.size() != 2) break;  // the time is up
      for (const Trial& trial : trials)
        if (result.failure.empty()) result.failure = failure_of(trial);
      if (!result.failure.empty()) break;
      placements.push_back(
          {trials[is_turned ? 1 : 0].measurement()->samples_ns, trials[is_turned ? 0 : 1].measurement()->samples_ns});
    }
    result.comparison = compare_pairs(placements, options.margin);
    process_s = seconds_since(process_begun);
    if (!result.failure.empty()) break;
  }
  result.seconds = seconds_since(begun);
  return result;
}

PairResult compare_configurations(const KernelSpec& spec, const ProblemSize& size, const Device& device, Use use,
                                  const Configuration& a, const Configuration& b, const PairOptions& options,
                                  const std::function<void(std::string_view)>& warn) {
  require_reference(spec);
  require_use(use, device);
  IsolatedOptions workers = workers_on(device, warn);
  workers.compile_workers = 2;
  MeasureOptions measure;
  measure.use = use;
  measure.abandon_factor = 0;
  measure.max_seconds = options.seconds / static_cast<double>(kLooks.front());
  const StartEvaluator start = [&](std::size_t rounds) {
    measure.finalist_rounds = rounds;
    auto evaluator = std::make_unique<IsolatedEvaluator>(spec, size, measure, workers);
    // The first process has verified both on other inputs and problems too.
    measure.second_inputs = measure.own_problems = false;
    return evaluator;
  };
  return compare_configurations(start, a, b, options);
}

}  // namespace tuner
