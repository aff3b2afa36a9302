// That the strategies search: on a made-up kernel each is clearly better than random draws, averaged over seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <tuner/search/strategy.hpp>

#include "spaces.hpp"

namespace tuner::search {
namespace {

using Index = EnumeratedSpace::Index;
using test::kernel_space;
using test::kernel_time;

/// Mean over seeds of the rank (0: the optimum) of the best of \p trials.
double mean_best_rank(const std::string& name, std::size_t trials) {
  static const EnumeratedSpace space = kernel_space();
  static const std::vector<double> sorted = [] {
    std::vector<double> times;
    for (Index i = 0; i < space.size(); ++i) times.push_back(kernel_time(space, i));
    std::sort(times.begin(), times.end());
    return times;
  }();
  constexpr int seeds = 12;
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    StrategyOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    options.expected_trials = trials;
    const auto strategy = make_strategy(name, space, options);
    double best = HUGE_VAL;
    for (std::size_t t = 0; t < trials; ++t) {
      const Index index = strategy->propose(1).at(0);
      const Observation observation{index, kernel_time(space, index), false, {}};
      strategy->learn({&observation, 1});
      best = std::min(best, *observation.objective);
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

TEST(StrategyQuality, AutoIsBetterThanRandomDrawsAtTheTwentiethTrial) {
  EXPECT_LT(mean_best_rank("auto", 20), mean_best_rank("random", 20));
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
    Observation observation{index, std::nullopt, false, {}};
    if (!fails(index)) observation.objective = kernel_time(space, index);
    if (t >= 40) failures += fails(index);
    strategy->learn({&observation, 1});
  }
  EXPECT_LT(failures, 15) << "of 60";
}

TEST(StrategyQuality, AutoStartsFromWhatWasGoodElsewhere) {
  const EnumeratedSpace space = kernel_space();
  std::vector<Observation> elsewhere;  // the same kernel on a device twice as slow, other noise
  Index best = 0;
  for (Index i = 0; i < space.size(); i += 3) {
    elsewhere.push_back({i, 2 * kernel_time(space, i) + 0.01 * static_cast<double>(i % 7), false, {}});
    if (kernel_time(space, i) < kernel_time(space, best)) best = i;
  }
  StrategyOptions options;
  options.seed = 2;
  const auto strategy = make_strategy("auto", space, options);
  strategy->seed_prior(elsewhere, 1);
  double reached = HUGE_VAL;
  for (int t = 0; t < 8; ++t) {
    const Index index = strategy->propose(1).at(0);
    const Observation observation{index, kernel_time(space, index), false, {}};
    strategy->learn({&observation, 1});
    reached = std::min(reached, *observation.objective);
  }
  EXPECT_LT(reached, 1.1 * kernel_time(space, best));
}

TEST(StrategyQuality, AutoSaysWhenAnImprovementHasBecomeUnlikely) {
  const EnumeratedSpace space = kernel_space();
  const auto strategy = make_strategy("auto", space, {});
  EXPECT_FALSE(strategy->improvement_probability(0.01)) << "nothing is known yet";
  std::optional<double> early;
  for (int t = 0; t < 400; ++t) {
    const Index index = strategy->propose(1).at(0);
    const Observation observation{index, kernel_time(space, index), false, {}};
    strategy->learn({&observation, 1});
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
