#include <gtest/gtest.h>

#include <cache/exchange.hpp>
#include <cache/session.hpp>

#include <tests/temporary_folder.hpp>
#include <tuner/report/tuning.hpp>

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

Gathered gather(std::vector<cache::Database>& databases, const cache::Filter& filter = {}) {
  std::vector<cache::Database*> all;
  for (cache::Database& database : databases) all.push_back(&database);
  return report::gather(all, filter);
}

std::vector<cache::Database> one(cache::Database database) {
  std::vector<cache::Database> all;
  all.push_back(std::move(database));
  return all;
}

TEST(Gather, FindsTrialsBestAndHowItIsServed) {
  auto databases = one(cache::Database::in_memory());
  tune(databases[0], sample_key(), {"block=32", "block=64"});
  const Gathered found = gather(databases);
  ASSERT_EQ(found.tunings.size(), 1u);
  const Tuning& tuning = found.tunings[0];
  EXPECT_EQ(tuning.trials.size(), 2u);
  EXPECT_EQ(tuning.sessions.size(), 1u);
  ASSERT_TRUE(tuning.best);
  EXPECT_EQ(tuning.best->configuration, "block=32");
  EXPECT_EQ(tuning.served.tier, cache::Tier::exact);
}

TEST(Gather, PutsSessionsOfTheSameTuningBehindEachOther) {
  auto databases = one(cache::Database::in_memory());
  tune(databases[0], sample_key(), {"block=32"});
  tune(databases[0], sample_key(), {"block=64", "block=32"});
  const Gathered found = gather(databases);
  ASSERT_EQ(found.tunings.size(), 1u);
  EXPECT_EQ(found.tunings[0].sessions.size(), 2u);
  ASSERT_EQ(found.tunings[0].trials.size(), 3u);
  EXPECT_LE(found.tunings[0].trials[0].at_s, found.tunings[0].trials[2].at_s);
}

TEST(Gather, KnowsFinalistsByTheirSecondMeasurementInASession) {
  auto databases = one(cache::Database::in_memory());
  tune(databases[0], sample_key(), {"block=32", "block=64", "block=32"});
  const Gathered found = gather(databases);
  const auto& trials = found.tunings.at(0).trials;
  EXPECT_FALSE(trials.at(0).again);
  EXPECT_FALSE(trials.at(1).again);
  EXPECT_TRUE(trials.at(2).again);
}

TEST(Gather, KnowsTheBestThatAnyTuningSawOfADevice) {
  auto databases = one(cache::Database::in_memory());
  cache::SessionKey fast = sample_key("first"), slow = sample_key("second");
  fast.device.properties = R"({"copy_bytes_per_s":4.5e12,"latency_ns":700,"read_bytes_per_s":"much"})";
  slow.device.properties = R"({"copy_bytes_per_s":4.2e12,"latency_ns":600,"write_bytes_per_s":3e12})";
  tune(databases[0], fast, {"block=32"});
  tune(databases[0], slow, {"block=32"});
  for (const Tuning& tuning : gather(databases).tunings)
    EXPECT_EQ(tuning.key.device.properties,
              R"({"copy_bytes_per_s":4500000000000.0,"latency_ns":600,"write_bytes_per_s":3000000000000.0})");
}

TEST(Gather, KeepsOtherKernelsApartAndLeavesThemOutWhenAsked) {
  auto databases = one(cache::Database::in_memory());
  tune(databases[0], sample_key("first"), {"block=32"});
  tune(databases[0], sample_key("second"), {"block=64"});
  EXPECT_EQ(gather(databases).tunings.size(), 2u);
  const Gathered found = gather(databases, {.kernel = "second"});
  ASSERT_EQ(found.tunings.size(), 1u);
  EXPECT_EQ(found.tunings[0].key.kernel.name, "second");
}

TEST(Gather, ListsResultsWithoutTrialsLast) {
  auto databases = one(cache::Database::in_memory());
  auto elsewhere = cache::Database::in_memory();
  tune(elsewhere, sample_key("shipped"), {"block=32"});
  tune(databases[0], sample_key("own"), {"block=64"});
  cache::import_text(databases[0], cache::export_wisdom(elsewhere));
  const Gathered found = gather(databases);
  ASSERT_EQ(found.tunings.size(), 2u);
  EXPECT_EQ(found.tunings[1].key.kernel.name, "shipped");
  EXPECT_TRUE(found.tunings[1].trials.empty());
  EXPECT_TRUE(found.tunings[1].best);
}

TEST(Gather, CountsNoTimeBetweenSessions) {
  Tuning tuning;
  append_session(tuning, {sample_trial("a=1", 1, 1000), sample_trial("a=2", 1, 3000)}, test::sample_started_ms(), 0);
  append_session(tuning, {sample_trial("a=3", 1, 1000)}, test::sample_started_ms(), tuning.trials.back().at_s);
  EXPECT_DOUBLE_EQ(tuning.trials[0].at_s, 1);
  EXPECT_DOUBLE_EQ(tuning.trials[1].at_s, 3);
  EXPECT_DOUBLE_EQ(tuning.trials[2].at_s, 4);
}

}  // namespace
}  // namespace tuner::report
