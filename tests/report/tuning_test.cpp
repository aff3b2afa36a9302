// A tuning as the database has it, and its comparison with another.

#include <limits>

#include <cache/exchange/exchange.hpp>
#include <cache/query/session.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/report/comparison.hpp>
#include <tuner/report/tuning.hpp>

#include <tests/support/testing.hpp>

#include "sample.hpp"

namespace tuner::report {
namespace {

using test::sample_key;
using test::sample_trial;

void tune(cache::Database& database, const cache::SessionKey& key, const std::vector<std::string>& configurations) {
  cache::SessionWriter writer(database, key, {"auto", 7, "tune"});
  for (const std::string& one : configurations) {
    cache::TrialRecord trial = sample_trial(one, 1000);
    trial.created_ms = 0;  // now
    writer.add(trial);
  }
  writer.flush();
  writer.set_best(configurations.front());
  writer.finish();
}

class Gather : public ::testing::Test {
 protected:
  Gathered gather(const cache::Filter& filter = {}) {
    cache::Database* const all[] = {&database_};
    return report::gather(all, filter);
  }
  /// Gathers the only tuning.
  Tuning gather_one(const cache::Filter& filter = {}) {
    Gathered found = gather(filter);
    EXPECT_EQ(found.tunings.size(), 1u);
    return std::move(found.tunings.at(0));
  }

  cache::Database database_ = cache::Database::in_memory();
};

TEST_F(Gather, FindsTrialsBestAndHowItIsServed) {
  tune(database_, sample_key(), {"block=32", "block=64"});
  const Tuning tuning = gather_one();
  EXPECT_EQ(tuning.trials.size(), 2u);
  EXPECT_EQ(tuning.sessions.size(), 1u);
  ASSERT_TRUE(tuning.best);
  EXPECT_EQ(tuning.best->configuration, "block=32");
  EXPECT_EQ(tuning.served.tier, cache::Tier::exact);
}

TEST_F(Gather, PutsSessionsOfTheSameTuningAfterEachOther) {
  tune(database_, sample_key(), {"block=32"});
  tune(database_, sample_key(), {"block=64", "block=32"});
  const Tuning tuning = gather_one();
  EXPECT_EQ(tuning.sessions.size(), 2u);
  ASSERT_EQ(tuning.trials.size(), 3u);
  EXPECT_LE(tuning.trials[0].at_s, tuning.trials[2].at_s);
}

TEST_F(Gather, KnowsFinalistsByTheirSecondMeasurementInASession) {
  tune(database_, sample_key(), {"block=32", "block=64", "block=32"});
  const auto trials = gather_one().trials;
  EXPECT_FALSE(trials.at(0).again);
  EXPECT_FALSE(trials.at(1).again);
  EXPECT_TRUE(trials.at(2).again);
}

TEST_F(Gather, KnowsTheBestThatAnyTuningSawOfADevice) {
  cache::SessionKey fast = sample_key("first"), slow = sample_key("second");
  fast.device.properties = R"({"copy_bytes_per_s":4.5e12,"latency_ns":700,"read_bytes_per_s":"much"})";
  slow.device.properties = R"({"copy_bytes_per_s":4.2e12,"latency_ns":600,"write_bytes_per_s":3e12})";
  tune(database_, fast, {"block=32"});
  tune(database_, slow, {"block=32"});
  for (const Tuning& tuning : gather().tunings)
    EXPECT_EQ(tuning.key.device.properties,
              R"({"copy_bytes_per_s":4500000000000.0,"latency_ns":600,"write_bytes_per_s":3000000000000.0})");
}

TEST_F(Gather, KeepsOtherKernelsApartAndLeavesThemOutWhenAsked) {
  tune(database_, sample_key("first"), {"block=32"});
  tune(database_, sample_key("second"), {"block=64"});
  EXPECT_EQ(gather().tunings.size(), 2u);
  EXPECT_EQ(gather_one({.kernel = "second"}).key.kernel.name, "second");
}

TEST_F(Gather, ListsResultsWithoutTrialsLast) {
  auto elsewhere = cache::Database::in_memory();
  tune(elsewhere, sample_key("shipped"), {"block=32"});
  tune(database_, sample_key("own"), {"block=64"});
  cache::import_text(database_, cache::export_wisdom(elsewhere));
  const Gathered found = gather();
  ASSERT_EQ(found.tunings.size(), 2u);
  EXPECT_EQ(found.tunings[1].key.kernel.name, "shipped");
  EXPECT_TRUE(found.tunings[1].trials.empty());
  EXPECT_TRUE(found.tunings[1].best);
}

TEST_F(Gather, CountsNoTimeBetweenSessions) {
  Tuning tuning;
  append_session(tuning, {sample_trial("a=1", 1, 1000), sample_trial("a=2", 1, 3000)}, test::sample_started_ms(), 0);
  append_session(tuning, {sample_trial("a=3", 1, 1000)}, test::sample_started_ms(), tuning.trials.back().at_s);
  EXPECT_DOUBLE_EQ(tuning.trials[0].at_s, 1);
  EXPECT_DOUBLE_EQ(tuning.trials[1].at_s, 3);
  EXPECT_DOUBLE_EQ(tuning.trials[2].at_s, 4);
}

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
  EXPECT_EQ(change(best(100, 5), best(108, 5)), Change::same);
  EXPECT_EQ(change(best(100, 5), best(92, 5)), Change::same);
}

TEST(Comparison, DoesNotCallTheDifferenceOfTwoRunsAChange) {
  EXPECT_EQ(change(best(100), best(100.9)), Change::same);
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
  EXPECT_EQ(all.at(0).change, Change::same);
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
