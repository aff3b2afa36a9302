// How often a comparison of two configurations is wrong, simulated, and what its numbers mean.

#include <tuner/measure/numbers/paired_comparison.hpp>

#include <cmath>
#include <random>
#include <stdexcept>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

/// A kernel of 20 us whose B takes `slowdown` as long as A. Samples have long right tails and the steps of a clock.
struct Scene {
  double slowdown = 1;
  double within = 0.003;      ///< relative noise of samples
  double placements = 0.002;  ///< relative noise between placements, of A and of B
  double rare = 0;            ///< how often a placement makes one of them slower by 1%
  std::size_t samples = 20;
};

std::vector<double> times(const Scene& scene, double typical_ns, std::mt19937_64& random) {
  std::normal_distribution<double> placement(0, scene.placements);
  std::exponential_distribution<double> tail(1);
  std::bernoulli_distribution bad(scene.rare);
  const double centre = typical_ns * (1 + placement(random)) * (bad(random) ? 1.01 : 1);
  std::vector<double> all(scene.samples);
  for (double& one : all) one = 32 * std::round(centre * (1 + scene.within * (tail(random) - std::log(2.0))) / 32);
  return all;
}

PairedComparison compared(const Scene& scene, std::mt19937_64& random) {
  std::vector<PlacementTimes> placements;
  PairedComparison found;
  do {
    while (placements.size() < std::max(found.next_look, kLooks.front()))
      placements.push_back({times(scene, 20'000, random), times(scene, 20'000 * scene.slowdown, random)});
    found = compare_pairs(placements);
  } while (found.verdict == Difference::undecided && found.next_look != 0);
  return found;
}

struct Counts {
  int of[4] = {};
  std::size_t placements = 0;
  int different() const { return of[0] + of[1]; }
  int operator[](Difference difference) const { return of[static_cast<int>(difference)]; }
};

Counts compared_often(const Scene& scene, int comparisons) {
  std::mt19937_64 random(50);
  Counts counts;
  for (int i = 0; i < comparisons; ++i) {
    const PairedComparison found = compared(scene, random);
    ++counts.of[static_cast<int>(found.verdict)];
    counts.placements += found.placements;
  }
  return counts;
}

std::vector<PlacementTimes> with_ratios(const std::vector<double>& ratios) {
  std::vector<PlacementTimes> all;
  for (const double ratio : ratios) all.push_back({{100}, {100 * ratio}});
  return all;
}

std::vector<double> around(double ratio, std::size_t n, double step = 0.0001) {
  std::vector<double> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = ratio + step * (static_cast<double>(i) - static_cast<double>(n - 1) / 2);
  return all;
}

TEST(PairedComparison, CallsAtMostOneInAThousandPairsOfEqualsDifferent) {
  EXPECT_LE(compared_often({}, 4000).different(), 4);
  EXPECT_LE(compared_often({.placements = 0.01}, 4000).different(), 4) << "placements matter more than the margin";
  EXPECT_LE(compared_often({.rare = 0.1}, 4000).different(), 4) << "few placements are bad";
  EXPECT_LE(compared_often({.within = 0, .placements = 0}, 10).different(), 0) << "all times are equal";
}

TEST(PairedComparison, FindsASlowdownByOnePercentInNinetyFiveOfAHundred) {
  const Counts slower = compared_often({.slowdown = 1.01}, 1000);
  EXPECT_GE(slower[Difference::slower], 950);
  EXPECT_LE(slower.placements, 13'000u) << "in little more than twelve processes each";
  EXPECT_GE(compared_often({.slowdown = 1 / 1.01}, 1000)[Difference::faster], 950);
  EXPECT_GE(compared_often({.slowdown = 1.01, .placements = 0.005}, 500)[Difference::slower], 475);
}

TEST(PairedComparison, SaysThatEqualsAreTheSameWithinTheMargin) {
  EXPECT_GE(compared_often({}, 1000)[Difference::same], 950);
  EXPECT_LE(compared_often({.slowdown = 1.015}, 1000)[Difference::same], 1);
}

TEST(PairedComparison, GivesAnIntervalThatContainsTheRatioAsOftenAsItSays) {
  std::mt19937_64 random(7);
  int missed = 0;
  for (int i = 0; i < 4000; ++i) {
    const PairedComparison found = compared({.slowdown = 1.004, .placements = 0.004}, random);
    missed += found.low > 1.004 || found.high < 1.004 ? 1 : 0;
  }
  EXPECT_LE(missed, 4);
}

// The interval of 12 values by hand: no rank sum but 0 has a probability of at most 0.00025 on each side.
TEST(PairedComparison, TakesTheExtremesOfTwelvePlacements) {
  const PairedComparison found = compare_pairs(with_ratios(around(1.05, 12)));
  EXPECT_EQ(found.verdict, Difference::slower);
  EXPECT_NEAR(found.ratio, 1.05, 1e-6);
  EXPECT_NEAR(found.low, 1.05 - 0.00055, 1e-9);
  EXPECT_NEAR(found.high, 1.05 + 0.00055, 1e-9);
  EXPECT_DOUBLE_EQ(found.p, 2.0 / 4096);
  EXPECT_DOUBLE_EQ(found.confidence, 0.9995);
  EXPECT_EQ(found.placements, 12u);
  EXPECT_EQ(found.next_look, 0u);
}

TEST(PairedComparison, DecidesNothingBeforeItsFirstLook) {
  const PairedComparison found = compare_pairs(with_ratios(around(2, 11)));
  EXPECT_EQ(found.verdict, Difference::undecided);
  EXPECT_NEAR(found.ratio, 2, 1e-6);
  EXPECT_EQ(found.placements, 11u);
  EXPECT_EQ(found.next_look, 12u);
  EXPECT_EQ(compare_pairs({}).next_look, 12u);
}

TEST(PairedComparison, KeepsItsFirstDecisionWhenMorePlacementsFollow) {
  std::vector<double> ratios = around(1.05, 12);
  const std::vector<double> more = around(0.9, 36);
  ratios.insert(ratios.end(), more.begin(), more.end());
  const PairedComparison found = compare_pairs(with_ratios(ratios));
  EXPECT_EQ(found.verdict, Difference::slower);
  EXPECT_EQ(found.placements, 12u);
}

TEST(PairedComparison, LooksAgainWhileTheIntervalIsWiderThanTheMargin) {
  const PairedComparison found = compare_pairs(with_ratios(around(1, 13, 0.01)));
  EXPECT_EQ(found.verdict, Difference::undecided);
  EXPECT_EQ(found.placements, 12u);
  EXPECT_EQ(found.next_look, 16u);
  EXPECT_EQ(compare_pairs(with_ratios(around(1, 60, 0.01))).next_look, 0u);
}

TEST(PairedComparison, SaysTheSameOfACertainDifferenceBelowTheMargin) {
  EXPECT_EQ(compare_pairs(with_ratios(around(1.005, 12))).verdict, Difference::same);
  EXPECT_EQ(compare_pairs(with_ratios(around(1.005, 12)), 0).verdict, Difference::slower);
  EXPECT_EQ(compare_pairs(with_ratios(around(1 / 1.005, 12)), 0).verdict, Difference::faster);
}

TEST(PairedComparison, RefusesTimesThatAreNone) {
  const std::vector<PlacementTimes> empty{{{100}, {}}}, zero{{{100}, {0}}};
  EXPECT_THROW(compare_pairs(empty), std::invalid_argument);
  EXPECT_THROW(compare_pairs(zero), std::invalid_argument);
}

}  // namespace
}  // namespace tuner
