// Values that need other values: the nearest valid configuration that has one, and whether a search finds them.

#include <cmath>
#include <cstdlib>
#include <string>

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/search/apart_values.hpp>

#include <tests/support/testing.hpp>

#include "spaces.hpp"

namespace tuner::search {
namespace {

using Digits = EnumeratedSpace::Digits;

/// A configuration of an algorithm, a number of blocks and a tile.
EnumeratedSpace algorithms(const std::function<bool(const Digits&)>& valid) {
  return test::product({{"algorithm", {"grid", "rows", "block"}}, test::powers("blocks", 5), test::powers("tile", 4)},
                       valid);
}

TEST(ApartValues, AreRepairedByTheSmallestStepOfOneOtherParameter) {
  const EnumeratedSpace space = algorithms([](const Digits& d) { return d[0] != 2 || d[1] <= 1; });
  const auto index = repaired(space, {2, 4, 3}, 0, {});
  ASSERT_TRUE(index);
  EXPECT_EQ(space.configuration(*index).text(), "algorithm=block blocks=2 tile=8");
}

TEST(ApartValues, KeepAllOtherValuesOfAValidConfiguration) {
  const EnumeratedSpace space = algorithms({});
  EXPECT_EQ(repaired(space, {2, 4, 3}, 0, {}), space.find_digits(Digits{2, 4, 3}));
}

TEST(ApartValues, AreRepairedFromAValidConfigurationWhereSeveralParametersMustChange) {
  const EnumeratedSpace space = test::product(
      {{"algorithm", {"grid", "block"}}, test::powers("blocks", 5), test::powers("tile", 4), test::powers("loads", 4)},
      [](const Digits& d) { return d[0] != 1 || (d[1] == 0 && d[2] == 0); });
  const Digits wanted{1, 4, 3, 2};
  EXPECT_FALSE(repaired(space, wanted, 0, {}));
  const Index start = *space.find_digits(Digits{1, 0, 0, 0});
  EXPECT_EQ(repaired(space, wanted, 0, {start}), space.find_digits(Digits{1, 0, 0, 2}));
}

TEST(ApartValues, ChangeNoProposalWhereEveryValueIsEasyToReach) {
  const EnumeratedSpace space = test::kernel_space();
  StrategyOptions without;
  without.values["visits"] = 0;
  const auto plain = make_strategy("auto", space, without);
  const auto visiting = make_strategy("auto", space, {});
  for (int t = 0; t < 60; ++t) EXPECT_EQ(test::try_one(*visiting, space), test::try_one(*plain, space)) << t;
}

/// reduce for 2^14 floats on a GPU with 132 multiprocessors.
EnumeratedSpace reduce_space() {
  DeviceLimits gpu;
  gpu.sm_count = 132;
  gpu.compute_capability = 90;
  const KernelSpec spec = read_kernel_file(std::string(TUNER_SOURCE_DIR) + "/templates/reduce.cu");
  ProblemSize problem;
  problem.sizes["n"] = 1 << 14;
  return enumerate(spec, complete(spec, problem), gpu);
}

TEST(ApartValues, AreVisitedAsIfThePlannedTrialsHadBeenKnownFromTheStart) {
  const EnumeratedSpace space = reduce_space();
  for (const std::size_t trials : {30, 100, 400}) {
    StrategyOptions known;
    known.expected_trials = trials;
    const auto informed = make_strategy("auto", space, known);
    const auto told = make_strategy("auto", space, {});
    for (int t = 0; t < 40; ++t) {
      told->plan_for(trials);
      EXPECT_EQ(test::try_one(*told, space), test::try_one(*informed, space)) << t;
    }
  }
}

/// A made-up time. One block alone is the fastest, if it has 1024 threads, and is slow with few. The grid prefers few
/// threads.
double reduce_time(const Configuration& configuration) {
  const auto number = [&](const char* name) { return static_cast<double>(configuration.find(name)->integer()); };
  const std::string& finish = configuration.find("finish")->string();
  const double threads = number("threads");
  const double bytes = std::log2(number("loads") * number("load_bytes"));
  double time = configuration.find("warp_step")->string() == "shuffle" ? 0 : 0.02;
  if (configuration.find("cache")->string() != "plain") time += 0.02;
  if (finish == "one_block")
    return time + 2.8 + 9.3 * std::pow(128 / (128 + threads), 1.2) + 0.04 * std::abs(bytes - 5);
  return time + (finish == "last_block" ? 4.5 : 6.1) + 0.04 * std::abs(std::log2(threads) - 6) +
         0.07 * std::abs(bytes - 6);
}

/// How many of 20 seeds try one block with at least 512 threads in 100 trials, with \p ahead proposals outstanding.
int seeds_that_find_one_block(std::size_t ahead, double visits) {
  static const EnumeratedSpace space = reduce_space();
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    StrategyOptions options;
    options.seed = seed;
    options.values["visits"] = visits;
    const auto strategy = make_strategy("auto", space, options);
    std::vector<Index> waiting;
    bool finds = false;
    for (int trial = 0; trial < 100 && !finds; ++trial) {
      for (const Index index : strategy->propose(ahead - waiting.size())) waiting.push_back(index);
      if (const auto order = strategy->reconsider(waiting)) {
        for (const Index index : waiting)
          if (std::ranges::find(*order, index) == order->end()) test::take_back(*strategy, index);
        waiting = *order;
      }
      const Index index = waiting.front();
      waiting.erase(waiting.begin());
      const Configuration configuration = space.configuration(index);
      const Observation seen{index, reduce_time(configuration), {}};
      strategy->learn({&seen, 1});
      finds = configuration.find("finish")->string() == "one_block" && configuration.find("threads")->integer() >= 512;
    }
    found += finds;
  }
  return found;
}

TEST(StrategyQuality, AutoFindsAnAlgorithmThatNeedsSeveralOtherValues) {
  EXPECT_LE(seeds_that_find_one_block(1, 0), 15) << "this space is easy";
  EXPECT_GE(seeds_that_find_one_block(1, 10), 19);
}

TEST(StrategyQuality, AutoFindsSuchAnAlgorithmWhileProposalsWaitForTheDevice) {
  EXPECT_GE(seeds_that_find_one_block(16, 10), 19);
}

}  // namespace
}  // namespace tuner::search
