#include <tuner/cli/problem_spread.hpp>

#include <tests/matchers.hpp>

namespace tuner::cli {
namespace {

using Share = ProblemSpread::Share;

/// \p problems that can use all devices.
std::vector<std::size_t> any(std::size_t problems) { return std::vector<std::size_t>(problems, 8); }

/// All that begins now.
std::vector<Share> begin(ProblemSpread& spread) {
  std::vector<Share> all;
  while (std::optional<Share> share = spread.next()) all.push_back(std::move(*share));
  return all;
}

TEST(ProblemSpread, GivesEachDeviceItsOwnProblemWhileThereAreEnough) {
  ProblemSpread spread(any(6), 4);
  const std::vector<Share> first = begin(spread);
  ASSERT_EQ(first.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(first[i].problem, i);
    EXPECT_THAT(first[i].devices, ElementsAre(i));
  }
  spread.done(first[2]);
  const std::vector<Share> next = begin(spread);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].problem, 4u);
  EXPECT_THAT(next[0].devices, ElementsAre(2));
}

TEST(ProblemSpread, GivesSeveralDevicesToEachOfFewProblems) {
  ProblemSpread spread(any(3), 4);
  const std::vector<Share> all = begin(spread);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[0].devices, ElementsAre(0));
  EXPECT_THAT(all[1].devices, ElementsAre(1));
  EXPECT_THAT(all[2].devices, ElementsAre(2, 3));
  EXPECT_THAT(ProblemSpread(any(1), 4).next()->devices, ElementsAre(0, 1, 2, 3));
}

TEST(ProblemSpread, GivesAProblemNoMoreDevicesThanItCanUse) {
  ProblemSpread spread({1, 8}, 4);
  const std::vector<Share> all = begin(spread);
  EXPECT_THAT(all[0].devices, ElementsAre(0));
  EXPECT_THAT(all[1].devices, ElementsAre(1, 2, 3));
}

TEST(ProblemSpread, HandsOutWhatIsFreeWhenAProblemBegins) {
  ProblemSpread spread(any(5), 2);
  const std::vector<Share> first = begin(spread);
  spread.done(first[1]);
  spread.done(first[0]);
  EXPECT_EQ(begin(spread).size(), 2u);
}

TEST(ProblemSpread, BringsTheProblemOfALostDeviceToAnotherOnce) {
  ProblemSpread spread(any(3), 3);
  const std::vector<Share> first = begin(spread);
  EXPECT_TRUE(spread.lost(first[0]));
  EXPECT_EQ(spread.devices(), 2u);
  EXPECT_FALSE(spread.next()) << "the others are in use";
  spread.done(first[2]);
  const std::optional<Share> again = spread.next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->problem, 0u);
  EXPECT_THAT(again->devices, ElementsAre(2));
  EXPECT_FALSE(spread.lost(*again)) << "it lost two devices: the problem is the cause";
  EXPECT_EQ(spread.devices(), 3u) << "and they are not";
}

TEST(ProblemSpread, TakesADeviceAwayForGoodWhereItsProblemSucceedsOnAnother) {
  ProblemSpread spread(any(2), 2);
  const std::vector<Share> first = begin(spread);
  EXPECT_TRUE(spread.lost(first[0]));
  spread.done(first[1]);
  spread.done(*spread.next());
  EXPECT_EQ(spread.devices(), 1u);
}

TEST(ProblemSpread, RisksOneDeviceForAProblemThatLostSome) {
  ProblemSpread spread(any(2), 4);
  const std::vector<Share> first = begin(spread);
  spread.done(first[0]);
  EXPECT_TRUE(spread.lost(first[1]));
  EXPECT_EQ(spread.next()->devices.size(), 1u);
}

TEST(ProblemSpread, DoesNotUseADeviceAgainThatOneOfSeveralLost) {
  ProblemSpread spread(any(1), 2);
  const Share share = *spread.next();
  spread.done(share, {1});
  EXPECT_EQ(spread.devices(), 1u);
}

TEST(ProblemSpread, TriesTheLastDeviceAgain) {
  ProblemSpread spread(any(2), 1);
  EXPECT_TRUE(spread.lost(*spread.next()));
  const std::optional<Share> again = spread.next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->problem, 0u);
  EXPECT_FALSE(spread.lost(*again));
  EXPECT_EQ(spread.next()->problem, 1u) << "for the others it may do";
}

TEST(ProblemSpread, BeginsNothingOnceTheLastDeviceDoesForNoProblemAnyMore) {
  ProblemSpread spread(any(5), 1);
  for (int lost = 0; lost < 6; ++lost) EXPECT_EQ(spread.lost(*spread.next()), lost % 2 == 0);
  EXPECT_EQ(spread.devices(), 0u);
  EXPECT_FALSE(spread.next());
}

TEST(ProblemSpread, BlamesNoDeviceForBadProblemsWhileAnotherRuns) {
  ProblemSpread spread(any(6), 3);
  const Share running = *spread.next();
  for (int bad = 0; bad < 4; ++bad) {
    const std::optional<Share> first = spread.next();
    ASSERT_TRUE(first);
    EXPECT_TRUE(spread.lost(*first));
    const std::optional<Share> second = spread.next();
    ASSERT_TRUE(second);
    EXPECT_FALSE(spread.lost(*second));
  }
  EXPECT_EQ(spread.devices(), 3u);
  spread.done(running);
  EXPECT_TRUE(spread.next());
}

TEST(ProblemSpread, DividesTheCoresByDevices) {
  ProblemSpread spread(any(2), 4);
  const Share share = *spread.next();
  EXPECT_EQ(share.devices.size(), 2u);
  EXPECT_EQ(spread.part(share, 16), 8u);
  EXPECT_EQ(spread.part(share, 1), 1u) << "none is left without";
}

}  // namespace
}  // namespace tuner::cli
