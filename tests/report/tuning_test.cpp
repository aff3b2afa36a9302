// A tuning as the database has it.

#include <cache/exchange/exchange.hpp>
#include <cache/query/session.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
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

TEST_F(Gather, KnowsAFinalistThatAnEarlierSessionSearched) {
  cache::SessionWriter writer(database_, sample_key(), {"auto", 7, "tune"});
  cache::TrialRecord trial = sample_trial("block=32", 1000);
  for (const char* const name : cache::kSearchTimes) trial.metrics[name] = 900;
  writer.add(trial);
  writer.flush();
  const Tuning tuning = gather_one();
  EXPECT_TRUE(tuning.trials.at(0).again);
  EXPECT_TRUE(tuning.trials[0].trial.metrics.empty()) << "times are no metrics";
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

}  // namespace
}  // namespace tuner::report
