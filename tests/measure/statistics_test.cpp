#include <tuner/measure/statistics.hpp>

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tuner {
namespace {

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(ScaledMad, IgnoresAnOutlierThatWouldRuinAStandardDeviation) {
  EXPECT_NEAR(scaled_mad(std::vector<double>{1, 2, 3, 4, 5}), 1.4826, 1e-12);
  EXPECT_NEAR(scaled_mad(std::vector<double>{1, 2, 3, 4, 5e9}), 1.4826, 1e-12);
  EXPECT_EQ(scaled_mad(std::vector<double>{5}), 0);
}

// Ranks of the usual tables, e.g. Conover, "Practical Nonparametric Statistics", table of the sign test; 0-based.
TEST(MedianInterval, UsesTheRanksOfPublishedTables) {
  const std::pair<std::size_t, std::size_t> ranks[] = {{6, 0},   {8, 0},   {9, 1},    {10, 1},   {12, 2},
                                                       {15, 3},  {20, 5},  {25, 7},   {30, 9},   {40, 13},
                                                       {50, 17}, {70, 26}, {100, 39}, {200, 85}, {2000, 955}};
  for (const auto& [n, rank] : ranks) EXPECT_EQ(median_interval_rank(n), rank) << n;
}

TEST(MedianInterval, IsTheWholeRangeOfUpToFiveValues) {
  const MedianInterval five = median_interval(std::vector<double>{5, 1, 4, 2, 3});
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  const MedianInterval one = median_interval(std::vector<double>{9});
  EXPECT_EQ(one.low, 9);
  EXPECT_EQ(one.high, 9);
  EXPECT_TRUE(std::isnan(median_interval({}).low));
}

TEST(MedianInterval, LeavesOutTheExtremesOfTenValues) {
  const std::vector<double> values{10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
  const MedianInterval interval = median_interval(values);
  EXPECT_EQ(interval.low, 2);
  EXPECT_EQ(interval.high, 9);
}

TEST(MedianInterval, ContainsTheMedianOfASkewedDistributionAsOftenAsItSays) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> times(1.0);
  const double truth = std::log(2.0);
  for (const std::size_t n : {6, 10, 23, 100}) {
    int inside = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> values(n);
      for (double& value : values) value = times(random);
      const MedianInterval interval = median_interval(values);
      inside += interval.low <= truth && truth <= interval.high ? 1 : 0;
    }
    EXPECT_GE(inside, 2000 * 0.935) << n;
  }
}

TEST(ClockStep, IsTheSmallestGapBetweenRepeatedValues) {
  EXPECT_EQ(clock_step(std::vector<double>{1000, 1500, 1000, 2500}, 99), 500);
  EXPECT_EQ(clock_step(std::vector<double>{1000, 1001, 1002.5}, 99), 0) << "no value repeats: the clock is fine";
  EXPECT_EQ(clock_step(std::vector<double>{1000, 1000, 1000}, 99), 99);
  EXPECT_EQ(clock_step(std::vector<double>{1000}, 99), 0);
}

}  // namespace
}  // namespace tuner
