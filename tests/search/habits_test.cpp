// What is usual for kernels: the rules, and how a search follows them.

#include <algorithm>
#include <cmath>

#include <tuner/search/candidates.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/history.hpp>

#include <tests/support/testing.hpp>

#include "spaces.hpp"

namespace tuner::search {
namespace {

using Digits = EnumeratedSpace::Digits;

/// The configurations of \p space with the smallest oddity.
std::vector<std::string> most_usual(const EnumeratedSpace& space) {
  const Habits habits(space);
  double least = HUGE_VAL;
  for (Index i = 0; i < space.size(); ++i) least = std::min(least, habits.oddity(i));
  std::vector<std::string> out;
  for (Index i = 0; i < space.size(); ++i)
    if (habits.oddity(i) == least) out.push_back(space.configuration(i).text());
  return out;
}

TEST(Habits, PreferTheMiddleOfSizesAndPowersOfTwo) {
  EXPECT_THAT(most_usual(test::product({test::powers("loads", 5)})), ElementsAre("loads=4"));
  EXPECT_THAT(most_usual(test::product({{"items", {1, 2, 3, 5, 6, 7, 8}}})), ElementsAre("items=2"));
}

TEST(Habits, HaveNoOpinionAboutWordsAndSwitches) {
  EXPECT_EQ(
      most_usual(test::product({{"order", {"rows", "columns"}}, {"padded", {false, true}}, test::numbers("n", 3)}))
          .size(),
      12u);
}

TEST(Habits, PreferBlocksOf128To256ThreadsWithAWarpInTheFirstDimension) {
  for (const auto& [x, y] :
       {std::pair{"block_size_x", "block_size_y"}, {"blockDimX", "blockDimY"}, {"threads_x", "threads_y"}}) {
    const EnumeratedSpace space = test::product({test::powers(x, 11), test::powers(y, 11)});
    const std::vector<std::string> usual = most_usual(space);
    EXPECT_THAT(usual, Contains(std::string(x) + "=32 " + y + "=8"));
    EXPECT_THAT(usual, Each(Not(StartsWith(std::string(x) + "=16 "))));
    EXPECT_LT(usual.size(), 8u);
  }
  const EnumeratedSpace one = test::product({test::powers("threads", 11)});
  const Habits habits(one);
  EXPECT_LT(habits.oddity(7), habits.oddity(10)) << "128 threads against 1024";
  EXPECT_LT(habits.oddity(5), habits.oddity(2)) << "32 threads against 4";
}

TEST(Habits, PreferLoadsOfFourNumbers) {
  for (const char* name : {"vector", "vec_size", "VWM"})
    EXPECT_THAT(most_usual(test::product({test::powers(name, 4)})), ElementsAre(std::string(name) + "=4"));
}

TEST(Habits, DecideTheFirstTrialUnlessTheyAreTurnedOff) {
  const EnumeratedSpace space = test::product({test::powers("block_size_x", 10), test::powers("tile", 5)});
  StrategyOptions options;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    options.seed = seed;
    const Index first = make_strategy("auto", space, options)->propose(1).at(0);
    EXPECT_THAT(most_usual(space), Contains(space.configuration(first).text()));
  }
  options.values["habits"] = 0;
  std::size_t usual = 0;
  for (options.seed = 0; options.seed < 10; ++options.seed) {
    const Index first = make_strategy("auto", space, options)->propose(1).at(0);
    usual += static_cast<std::size_t>(std::ranges::count(most_usual(space), space.configuration(first).text()));
  }
  EXPECT_LT(usual, 5u);
}

TEST(Habits, DoNotHideAnUnusualOptimum) {
  const EnumeratedSpace space =
      test::product({test::powers("block_size_x", 10), test::powers("block_size_y", 6), test::powers("tile", 6)},
                    [](const Digits& d) { return d[0] + d[1] <= 10; });
  const auto time = [&](Index i) {  // best: one thread, with the largest tile
    return 1 + space.digit(i, 0) + space.digit(i, 1) + (5 - space.digit(i, 2));
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    StrategyOptions options;
    options.seed = seed;
    options.expected_trials = 40;
    const auto strategy = make_strategy("auto", space, options);
    double best = HUGE_VAL;
    for (int t = 0; t < 40; ++t) {
      const Index index = strategy->propose(1).at(0);
      const Observation seen{index, static_cast<double>(time(index)), {}};
      strategy->learn({&seen, 1});
      best = std::min(best, *seen.objective);
    }
    EXPECT_LE(best, 2) << seed;
  }
}

TEST(Candidates, HoldEachValueThatOneOtherChangeMakesPossible) {
  // "block" needs one block and "rows" needs several: no single change leads from one to the other.
  const EnumeratedSpace space =
      test::product({{"algorithm", {"block", "rows"}}, test::powers("blocks", 8), test::powers("tile", 8)},
                    [](const Digits& d) { return (d[0] == 0) == (d[1] == 0); });
  History history(space);
  Random random(1);
  history.learn({*space.find_digits(Digits{1, 5, 3}), 1.0, {}});
  const CandidateOptions only_near{1, 1, 0, 100, 0};
  const std::vector<Index> found = candidates(history, random, only_near, true);
  EXPECT_THAT(found, Contains(*space.find_digits(Digits{0, 0, 3})));
  const CandidateOptions without{1, 1, 0, 0, 0};
  EXPECT_THAT(candidates(history, random, without, true), Not(Contains(*space.find_digits(Digits{0, 0, 3}))));
}

}  // namespace
}  // namespace tuner::search
