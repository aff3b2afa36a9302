// Each strategy must be clearly better than random draws on a made-up kernel, averaged over seeds.

#include <cmath>

#include <tuner/search/strategy.hpp>

#include <tests/support/testing.hpp>

#include "spaces.hpp"

namespace tuner::search {
namespace {

using Index = EnumeratedSpace::Index;
using test::kernel_space;
using test::kernel_time;
using test::try_one;

/// Mean over seeds of the rank (0: the optimum) of the best of \p trials.
double mean_best_rank(const std::string& name, std::size_t trials, int seeds = 12) {
  static const EnumeratedSpace space = kernel_space();
  static const std::vector<double> sorted = [] {
    std::vector<double> times;
    for (Index i = 0; i < space.size(); ++i) times.push_back(kernel_time(space, i));
    std::sort(times.begin(), times.end());
    return times;
  }();
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    StrategyOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    options.expected_trials = trials;
    const auto strategy = make_strategy(name, space, options);
    double best = HUGE_VAL;
    for (std::size_t t = 0; t < trials; ++t) {
      best = std::min(best, kernel_time(space, try_one(*strategy, space)));
    }
    sum += static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), best) - sorted.begin());
  }
  return sum / seeds;
}

TEST(StrategyQuality, EveryStrategyIsTwiceAsGoodAsRandomDrawsAfterOneHundredTrials) {
  const double random = mean_best_rank("random", 100);
  for (const char* name : {"auto", "simulated_annealing", "greedy_ils", "mls", "genetic_algorithm", "diff_evo", "pso",
                           "basin_hopping", "bandit", "bayes_opt"})
    EXPECT_LT(mean_best_rank(name, 100), 0.5 * random) << name;
}

TEST(StrategyQuality, AutoIsNearTheOptimumAfterSixtyTrials) { EXPECT_LT(mean_best_rank("auto", 60), 10); }

TEST(StrategyQuality, AutoIsBetterThanRandomDrawsFromTheTenthTrialOn) {
  for (const std::size_t trials : {10, 15, 25})
    EXPECT_LT(mean_best_rank("auto", trials, 50), mean_best_rank("random", trials, 50)) << trials;
}

TEST(StrategyQuality, AutoAvoidsARegionThatFails) {
  const EnumeratedSpace space = kernel_space();
  const auto fails = [&](Index i) { return space.digit(i, 4) == 1; };  // half of the space
  StrategyOptions options;
  options.seed = 5;
  const auto strategy = make_strategy("auto", space, options);
  int failures = 0;
  for (int t = 0; t < 100; ++t) {
    const Index index = strategy->propose(1).at(0);
    Observation observation{index, std::nullopt, {}};
    if (!fails(index)) observation.objective = kernel_time(space, index);
    if (t >= 40) failures += fails(index);
    strategy->learn({&observation, 1});
  }
  EXPECT_LT(failures, 15) << "of 60";
}

/// A kernel whose speed depends on its registers. These are scattered over the space, so no parameter predicts them.
double hidden_registers(Index index) { return static_cast<double>((index * 2654435761u >> 7) % 128); }

/// Mean over seeds of the best time after \p trials with sixteen proposals compiled ahead of the device.
double mean_best_ahead(const EnumeratedSpace& space, std::size_t trials, double listens) {
  constexpr std::size_t ahead = 16;
  constexpr int seeds = 10;
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    StrategyOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    options.expected_trials = trials;
    options.values["compiler"] = listens;
    const auto strategy = make_strategy("auto", space, options);
    std::vector<Index> waiting;
    double best = HUGE_VAL;
    for (std::size_t t = 0; t < trials; ++t) {
      for (const Index index : strategy->propose(ahead - waiting.size())) {
        Resources needs;
        needs.registers = static_cast<int>(hidden_registers(index));
        strategy->compiled(index, needs);
        waiting.push_back(index);
      }
      if (auto order = strategy->reconsider(waiting)) {
        for (const Index index : waiting)
          if (std::find(order->begin(), order->end(), index) == order->end()) test::take_back(*strategy, index);
        waiting = std::move(*order);
      }
      const Index index = waiting.front();
      waiting.erase(waiting.begin());
      const Observation seen{index, kernel_time(space, index) + 0.1 * hidden_registers(index), {}};
      strategy->learn({&seen, 1});
      best = std::min(best, *seen.objective);
    }
    sum += best;
  }
  return sum / seeds;
}

TEST(StrategyQuality, AutoRunsFirstWhatTheCompilerMakesPromising) {
  const EnumeratedSpace space = kernel_space();
  EXPECT_LT(mean_best_ahead(space, 60, 1), 0.8 * mean_best_ahead(space, 60, 0));
}

TEST(StrategyQuality, AutoGivesUpWhatFellBehind) {
  const EnumeratedSpace space = kernel_space();
  int right = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    StrategyOptions options;
    options.seed = seed;
    const auto strategy = make_strategy("auto", space, options);
    const std::vector<Index> early = strategy->propose(16);  // before anything is known
    for (int t = 0; t < 40; ++t) try_one(*strategy, space);
    const auto order = strategy->reconsider(early);
    ASSERT_TRUE(order);
    ASSERT_LT(order->size(), early.size());
    const Index given_up = *std::find_if(early.begin(), early.end(), [&](Index index) {
      return std::find(order->begin(), order->end(), index) == order->end();
    });
    right += kernel_time(space, given_up) > kernel_time(space, order->front());
  }
  EXPECT_GE(right, 14) << "of 20";
}

TEST(StrategyQuality, AutoSaysWhenAnImprovementHasBecomeUnlikely) {
  const EnumeratedSpace space = kernel_space();
  const auto strategy = make_strategy("auto", space, {});
  EXPECT_FALSE(strategy->improvement_probability(0.01)) << "nothing is known yet";
  std::optional<double> early;
  for (int t = 0; t < 400; ++t) {
    try_one(*strategy, space);
    if (t == 15) early = strategy->improvement_probability(0.01);
  }
  const auto late = strategy->improvement_probability(0.01);
  ASSERT_TRUE(early && late);
  EXPECT_GE(*early, 0.0);
  EXPECT_LE(*early, 1.0);
  EXPECT_LT(*late, 0.05);
  EXPECT_LT(*late, *early);
}

}  // namespace
}  // namespace tuner::search
