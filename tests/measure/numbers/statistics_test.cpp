#include <tuner/measure/numbers/statistics.hpp>

#include <cmath>
#include <random>
#include <stdexcept>

#include <tests/support/testing.hpp>

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

TEST(StandardError, IsTheDeviationOverTheRootOfTheNumber) {
  EXPECT_DOUBLE_EQ(standard_error(std::vector<double>{1, 2, 3}), 1 / std::sqrt(3.0));
  EXPECT_EQ(standard_error(std::vector<double>{5}), 0);
}

/// Two samples at each placement.
Trial at_placements(const std::vector<double>& times) {
  Measurement all;
  for (const double time : times) all.samples_ns.insert(all.samples_ns.end(), 2, time);
  Trial trial;
  trial.outcome = all;
  trial.round = 1;
  return trial;
}

TEST(IsSlower, NeedsThreePlacementsThatAgree) {
  const Trial fast = at_placements({100, 110, 120});
  const Placements three{2, 2, 2};
  EXPECT_TRUE(is_slower(at_placements({102, 112.2, 122.5}), fast, three));
  EXPECT_FALSE(is_slower(at_placements({106, 110, 121}), fast, three)) << "as large as its range";
  EXPECT_FALSE(is_slower(at_placements({100.1, 110.1, 120.1}), fast, three)) << "a tie";
  EXPECT_FALSE(is_slower(at_placements({102, 112}), at_placements({100, 110}), {2, 2}));
  Trial alone = at_placements({102, 112.2, 122.5});
  alone.round = 0;
  EXPECT_FALSE(is_slower(alone, fast, three));
}

TEST(ComparedTimes, AreThoseOfThePlacementsIfThereAreThree) {
  const Trial fast = at_placements({100, 110, 120}), slow = at_placements({101, 112.2, 123.6});
  const TimeRatio three = compared_times(slow, fast, {2, 2, 2});
  EXPECT_NEAR(three.ratio, 1.02, 1e-12);
  EXPECT_NEAR(three.high - three.ratio, 4.303 * 0.01 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(three.ratio - three.low, three.high - three.ratio, 1e-12);
  Trial a = slow, b = fast;
  std::get<Measurement>(a.outcome).median_ns = 112, std::get<Measurement>(b.outcome).median_ns = 110;
  std::get<Measurement>(a.outcome).low_ns = 101, std::get<Measurement>(b.outcome).low_ns = 100;
  std::get<Measurement>(a.outcome).high_ns = 124, std::get<Measurement>(b.outcome).high_ns = 120;
  a.round = 0;
  const TimeRatio apart = compared_times(a, b, {2, 2, 2});
  EXPECT_DOUBLE_EQ(apart.ratio, 112.0 / 110);
  EXPECT_DOUBLE_EQ(apart.low, 101.0 / 120);
  EXPECT_DOUBLE_EQ(apart.high, 124.0 / 100);
  EXPECT_EQ(compared_times(at_placements({1, 900, 1}), at_placements({1, 1, 1}), {2, 2, 2}).low, 0) << "not below";
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

Trial trial(int block, int registers, std::vector<double> samples) {
  Trial result;
  result.configuration = Configuration{{"block", block}};
  result.round = 1;
  Measurement measurement;
  measurement.median_ns = median(samples);
  const MedianInterval interval = median_interval(samples);
  measurement.low_ns = interval.low;
  measurement.high_ns = interval.high;
  measurement.samples_ns = std::move(samples);
  result.outcome = measurement;
  if (registers > 0) {
    result.resources.emplace();
    result.resources->registers = registers;
  }
  return result;
}

/// 20 samples around \p centre with a common drift of 2% and noise of the size \p own, whose order \p phase shifts.
std::vector<double> drifting(double centre, double own, int phase = 0) {
  std::vector<double> samples;
  for (int i = 0; i < 20; ++i) samples.push_back(centre * (1 + 0.02 * i / 20) + own * (((i + phase) * 7) % 5 - 2));
  return samples;
}

TEST(Decide, GoesToTheFastestWhenItIsAheadByMoreThanTheNoise) {
  const std::vector<Trial> trials{trial(64, 16, drifting(1100, 1)), trial(32, 40, drifting(1000, 1))};
  const Standings standings = decide(trials);
  EXPECT_EQ(standings.winner, 1u);
  EXPECT_EQ(standings.fastest, 1u);
  EXPECT_TRUE(standings.ties.empty());
}

TEST(Decide, GoesToTheOneWithFewerRegistersInATie) {
  const std::vector<Trial> trials{trial(32, 40, drifting(1000, 10)), trial(64, 16, drifting(1003, 10, 2))};
  const Standings standings = decide(trials);
  EXPECT_EQ(standings.fastest, 0u);
  EXPECT_EQ(standings.winner, 1u);
  EXPECT_EQ(standings.ties, std::vector<std::size_t>{0});
}

TEST(Decide, CallsALeadOfFewNanosecondsATieWhereItIsToldHowFew) {
  const std::vector<Trial> trials{trial(32, 40, drifting(5000, 1)), trial(64, 16, drifting(5150, 1))};
  EXPECT_EQ(decide(trials, {.default_at = 1}).winner, 0u);
  EXPECT_EQ(decide(trials, {.min_lead_ns = 160, .default_at = 1}).winner, 1u);
  EXPECT_EQ(decide(trials, {.min_lead_ns = 140, .default_at = 1}).winner, 0u);
}

/// Two placements of 10 samples each, at which the times are multiplied by \p factors.
std::vector<double> placed(std::vector<double> samples, std::pair<double, double> factors) {
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] *= i < 10 ? factors.first : factors.second;
  return samples;
}

TEST(Decide, CallsALeadATieThatIsTurnedRoundAtAPlacement) {
  for (const double there : {1.006, 0.999}) {
    const std::vector<Trial> trials{trial(32, 40, drifting(1000, 0.1)),
                                    trial(64, 16, placed(drifting(1000, 0.1, 1), {1.009, there}))};
    EXPECT_EQ(decide(trials, {.placements = {10, 10}}).winner, there > 1 ? 0u : 1u);
  }
}

TEST(Decide, GoesToTheDefaultUnlessItIsBeatenAtEachPlacementOrClearly) {
  for (const auto& [ratios, winner] : {std::pair(std::pair(1.1, 1.05), 0u), {{1.15, 0.99}, 1u}, {{1.7, 0.99}, 0u}}) {
    const std::vector<Trial> trials{trial(32, 40, drifting(1000, 0.1)),
                                    trial(64, 16, placed(drifting(1000, 0.1, 1), ratios))};
    EXPECT_EQ(decide(trials, {.default_at = 1, .placements = {10, 10}}).winner, winner);
  }
}

TEST(Decide, GoesToTheDefaultWhereASmallLeadDiffersAsMuchBetweenPlacements) {
  for (const auto& [ratios, winner] : {std::pair(std::pair(1.06, 1.05), 0u), {{1.08, 1.005}, 1u}}) {
    const std::vector<Trial> trials{trial(32, 40, drifting(1000, 0.1)),
                                    trial(64, 16, placed(drifting(1000, 0.1, 1), ratios))};
    EXPECT_EQ(decide(trials, {.min_lead_ns = 200, .default_at = 1, .placements = {10, 10}}).winner, winner);
    EXPECT_EQ(decide(trials, {.default_at = 1, .placements = {10, 10}}).winner, 0u);
  }
}

/// Ten samples at each placement, multiplied by one of \p factors.
std::vector<double> placed(std::vector<double> samples, const std::vector<double>& factors) {
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] *= factors.at(i / 10);
  return samples;
}

TEST(Decide, SeesASmallLeadOverTheDefaultWithEnoughPlacements) {
  const auto winner = [](const std::vector<double>& factors) {
    const std::vector<double> samples(10 * factors.size(), 5000.0);
    const std::vector<Trial> trials{trial(32, 40, samples), trial(64, 16, placed(samples, factors))};
    return decide(trials, {.min_lead_ns = 200, .default_at = 1, .placements = Placements(factors.size(), 10)}).winner;
  };
  EXPECT_EQ(winner({1.016, 1.004, 1.010}), 1u) << "three may be luck";
  EXPECT_EQ(winner({1.016, 1.004, 1.010, 1.014, 1.001, 1.012, 1.008, 1.011}), 0u);
}

TEST(Decide, GoesToTheDefaultInATieHoweverSimpleTheOthersAre) {
  const std::vector<Trial> trials{trial(32, 40, drifting(1000, 10)), trial(64, 16, drifting(1003, 10, 2)),
                                  trial(128, 64, drifting(1002, 10, 1))};
  const Standings standings = decide(trials, {.default_at = 2});
  EXPECT_EQ(standings.winner, 2u);
  EXPECT_EQ(standings.ties, (std::vector<std::size_t>{0, 1}));
}

TEST(Decide, NeverGoesToASimplerOneThatIsSlowerThanTheDefault) {
  // In pairs, the third differs clearly from the first; the second, which has more noise, does not.
  const std::vector<Trial> trials{trial(32, 40, drifting(1000, 1)), trial(64, 16, drifting(1003, 10, 2)),
                                  trial(128, 64, drifting(1002.5, 1))};
  ASSERT_EQ(decide(trials).winner, 1u);
  EXPECT_EQ(decide(trials, {.default_at = 2}).winner, 0u);
}

TEST(Decide, GoesToTheFirstInCanonicalOrderWhenRegistersAreEqualOrUnknown) {
  for (const int registers : {0, 24}) {
    const std::vector<Trial> trials{trial(64, registers, drifting(1000, 1)), trial(32, registers, drifting(1000.5, 1))};
    EXPECT_EQ(decide(trials).winner, 1u);
  }
}

TEST(Decide, SeesADifferenceThroughCommonDriftByComparingPairs) {
  // 0.4% apart with a drift of 2%: the intervals overlap, but pairs differ.
  const std::vector<Trial> trials{trial(32, 40, drifting(1000, 0.1)), trial(64, 16, drifting(1004, 0.1, 2))};
  EXPECT_GT(trials[0].measurement()->high_ns, trials[1].measurement()->low_ns);
  EXPECT_EQ(decide(trials).winner, 0u);
}

TEST(Decide, ComparesIntervalsWhenSamplesAreNoPairs) {
  const std::vector<Trial> tied{trial(32, 40, {100, 100.5, 101, 100.2}), trial(64, 16, {100.6, 100.9, 100.4})};
  EXPECT_EQ(decide(tied).winner, 1u);
  const std::vector<Trial> apart{trial(32, 40, {100, 100.1, 100.1, 100}), trial(64, 16, {100.6, 100.9, 100.7})};
  EXPECT_EQ(decide(apart).winner, 0u);
}

TEST(Decide, ComparesIntervalsOfEquallyManySamplesThatWereNotTakenSideBySide) {
  // The same samples, but measured one after the other, so that they do not share the drift.
  std::vector<Trial> trials{trial(32, 40, drifting(1000, 0.1)), trial(64, 16, drifting(1004, 0.1, 2))};
  for (const std::pair<int, int>& rounds : {std::pair(0, 0), std::pair(1, 2)}) {
    trials[0].round = rounds.first;
    trials[1].round = rounds.second;
    EXPECT_EQ(decide(trials).winner, 1u);
  }
}

TEST(Decide, NeverCallsAClearLossATieHoweverNoisyTheMeasurement) {
  const std::vector<Trial> trials{trial(32, 40, drifting(1000, 200)), trial(64, 16, drifting(1050, 200, 2))};
  EXPECT_EQ(decide(trials).winner, 0u);
}

TEST(Decide, RefusesFailedTrials) {
  EXPECT_THROW(decide({}), std::invalid_argument);
  std::vector<Trial> failed(1);
  failed[0].outcome = Timeout{"hangs"};
  EXPECT_THROW(decide(failed), std::invalid_argument);
}

}  // namespace
}  // namespace tuner
