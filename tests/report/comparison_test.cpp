// Results compared with those of another database.

#include <limits>

#include <tuner/report/comparison.hpp>

#include <tests/support/testing.hpp>

#include "sample.hpp"

namespace tuner::report {
namespace {

cache::BestRecord best(double median, double half_percent = 0.1, std::int64_t nx = 1024) {
  cache::SessionKey key = test::sample_key();
  key.problem.sizes = {{"nx", nx}};
  const double half = median * half_percent / 100;
  return {key, {median, median - half, median + half, 0.001}, "block=64", 30, 1000};
}

Change change(const cache::BestRecord& a, const cache::BestRecord& b, const CompareOptions& options = {}) {
  const auto all = compare({a}, {b}, options);
  EXPECT_EQ(all.size(), 1u);
  return all.at(0).change;
}

TEST(Comparison, ConfirmsWhatIsClearOfIntervalsAndMargin) {
  EXPECT_EQ(change(best(100), best(110)), Change::slower);
  EXPECT_EQ(change(best(100), best(90)), Change::faster);
}

TEST(Comparison, CannotTellWhatTheIntervalsReach) {
  EXPECT_EQ(change(best(100, 5), best(108, 5)), Change::undecided);
  EXPECT_EQ(change(best(100, 5), best(92, 5)), Change::undecided);
  EXPECT_EQ(change(best(100, 5), best(100, 5)), Change::undecided) << "equal medians may be luck";
}

TEST(Comparison, CallsTheSameWhatCannotDifferByMoreThanTheMargin) {
  EXPECT_EQ(change(best(100), best(100.5)), Change::same);
  EXPECT_EQ(change(best(100.5), best(100)), Change::same);
  EXPECT_EQ(change(best(100, 5), best(108, 5), {.margin = 0.25}), Change::same);
}

TEST(Comparison, SaysWhyInOneClause) {
  const auto why = [](double b, double half_percent) {
    return compare({best(100, half_percent)}, {best(b, half_percent)}).at(0).why;
  };
  EXPECT_EQ(why(110, .1), "the 95% intervals allow no less than 1%, 30 and 30 samples of one tuning each");
  EXPECT_EQ(why(100, .1), "the 95% intervals allow no more than 1%, 30 and 30 samples of one tuning each");
  EXPECT_EQ(why(100, 5), "the 95% intervals allow more and less than 1%, 30 and 30 samples of one tuning each");
}

TEST(Comparison, LetsANewMeasurementDecide) {
  std::vector<Compared> all = compare({best(100, 1, 1), best(100, 1, 2)}, {best(150, 1, 1), best(101, 1, 2)});
  PairedComparison measured;
  measured.verdict = Difference::slower;
  measured.ratio = 1.3, measured.low = 1.2, measured.high = 1.4;
  measured.confidence = 0.9995;
  measured.placements = 12;
  decide_by(all[1], measured, 4);
  EXPECT_EQ(all[1].change, Change::slower);
  EXPECT_EQ(all[1].why, "the 99.95% interval excludes 1, 12 placements measured in 4 s");
  EXPECT_EQ(*all[1].ratio, 1.3);
  measured.verdict = Difference::same;
  decide_by(all[0], measured, 4);
  EXPECT_EQ(all[0].why, "the 99.95% interval allows no more than 1%, 12 placements measured in 4 s");
  sort(all);
  EXPECT_EQ(all[0].change, Change::slower);
  measured = {};
  measured.placements = 7, measured.next_look = 12;
  decide_by(all[0], measured, 10);
  EXPECT_EQ(all[0].change, Change::undecided);
  EXPECT_EQ(all[0].why, "only 7 of 12 placements were measured in 10 s");
  EXPECT_FALSE(all[0].low);
}

TEST(Comparison, DoesNotCallTheDifferenceOfTwoRunsAChange) {
  EXPECT_EQ(change(best(100), best(100.9)), Change::undecided);
  EXPECT_EQ(change(best(100), best(100.9), {.margin = 0}), Change::slower);
  EXPECT_EQ(change(best(100.9), best(100), {.margin = 0}), Change::faster);
}

TEST(Comparison, GivesTheRatioWithItsBounds) {
  const auto all = compare({best(100, 1)}, {best(120, 1)}, {});
  ASSERT_TRUE(all.at(0).low && all.at(0).high);
  EXPECT_DOUBLE_EQ(*all[0].ratio, 1.2);
  EXPECT_DOUBLE_EQ(*all[0].low, 118.8 / 101);
  EXPECT_DOUBLE_EQ(*all[0].high, 121.2 / 99);
}

TEST(Comparison, DecidesNothingWithoutIntervals) {
  cache::BestRecord bare = best(300);
  bare.low_ns = bare.high_ns = std::numeric_limits<double>::quiet_NaN();
  const auto all = compare({best(100)}, {bare}, {});
  EXPECT_EQ(all.at(0).change, Change::undecided);
  EXPECT_TRUE(all[0].ratio);
  EXPECT_FALSE(all[0].low);
}

TEST(Comparison, NamesWhatOnlyOneSideHas) {
  const auto all = compare({best(100, 1, 1)}, {best(100, 1, 2)}, {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].change, Change::only_a);
  EXPECT_EQ(all[1].change, Change::only_b);
}

TEST(Comparison, MatchesOneDeviceWithAnotherOnlyWhenAsked) {
  cache::BestRecord other = best(50);
  other.device.key = "cuda cc=8.0";
  EXPECT_EQ(compare({best(100)}, {other}, {}).size(), 2u);
  EXPECT_EQ(change(best(100), other, {.across_devices = true}), Change::faster);
}

TEST(Comparison, TakesTheLatestOfSeveralWithOtherSoftware) {
  cache::BestRecord later = best(50);
  later.environment.driver = "14.0";
  later.measured_ms = 2000;
  const auto all = compare({best(100)}, {best(100), later}, {});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].change, Change::faster);
  EXPECT_FALSE(all[0].same_software);
}

TEST(Comparison, PutsTheWorstFirst) {
  const auto all = compare({best(100, .1, 1), best(100, .1, 2), best(100, .1, 3)},
                           {best(90, .1, 1), best(110, .1, 2), best(150, .1, 3)}, {});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_DOUBLE_EQ(*all[0].ratio, 1.5);
  EXPECT_DOUBLE_EQ(*all[1].ratio, 1.1);
  EXPECT_DOUBLE_EQ(*all[2].ratio, 0.9);
}

}  // namespace
}  // namespace tuner::report
