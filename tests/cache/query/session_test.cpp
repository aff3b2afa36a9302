#include <chrono>
#include <cmath>
#include <thread>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

std::vector<std::string> configurations(const std::vector<TrialRecord>& trials) {
  std::vector<std::string> result;
  for (const auto& t : trials) result.push_back(t.configuration);
  return result;
}

using Session = DatabaseTest;
using Best = DatabaseTest;
using Quarantine = DatabaseTest;
using Schema = FileTest;
using Statistics = FileTest;

TEST_F(Session, GivesBackEverythingOfATrial) {
  auto original = trial("block=256 warp_step=shuffle", 12345.5);
  original.message = "none";
  original.log = std::string("ptxas info\n\0with a zero", 23);
  original.throttled = true;
  original.cold = false;
  original.created_ms = 1700000000123;
  use_file();
  SessionWriter(database, session_key()).add(original);
  use_file();
  const auto trials = finished_trials(database, session_key());
  ASSERT_EQ(trials.size(), 1u);
  const auto& t = trials[0];
  EXPECT_EQ(t.kind, "ok");
  const auto all = [](const TrialRecord& one) {
    return std::tie(one.configuration, one.message, one.log, one.samples_ns, one.median_ns, one.low_ns, one.high_ns,
                    one.relative_noise, one.cold, one.throttled, one.converged, one.abandoned, one.verified,
                    one.clock_mhz, one.metrics, one.times_s, one.resources, one.created_ms);
  };
  EXPECT_TRUE(all(t) == all(original));
}

TEST_F(Session, KeepsNumbersThatAreNoneAsNone) {
  auto broken = trial("block=1", std::nan(""));
  broken.metrics["power_w"] = INFINITY;
  {
    SessionWriter writer(database, session_key());
    writer.add(broken);
    EXPECT_THROW(writer.set_best("block=1"), CacheError);
  }
  const auto trials = finished_trials(database, session_key());
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_TRUE(std::isnan(trials[0].median_ns));
  EXPECT_TRUE(std::isnan(trials[0].metrics.at("power_w")));
}

TEST_F(Session, IsUnfinishedUntilItSaysSo) {
  {
    SessionWriter writer(database, session_key(), {.strategy = "random", .seed = 0xffffffffffffffffu});
    writer.add(trial("block=1", 10));
  }
  const auto begun = sessions_of(database, session_key());
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_FALSE(begun[0].finished_ms);
  EXPECT_EQ(begun[0].trials, 1);
  EXPECT_EQ(begun[0].strategy, "random");
  EXPECT_EQ(begun[0].seed, 0xffffffffffffffffu);
  EXPECT_EQ(begun[0].spent, "");
  {
    SessionWriter writer(database, session_key());
    writer.add(trial("block=2", 10));
    writer.finish(R"({"trials":2})");
    const auto both = sessions_of(database, session_key());
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[1].uuid, writer.uuid());
    EXPECT_TRUE(both[1].finished_ms);
    EXPECT_EQ(both[1].spent, R"({"trials":2})");
  }
}

TEST_F(Session, IsResumedByWhateverEarlierOnesFinished) {
  {
    SessionWriter writer(database, session_key());
    writer.add(trial("block=1", 10));
    writer.add(failed_trial("block=2", "compile", "no such identifier"));
  }
  {
    SessionWriter writer(database, session_key());
    writer.add(trial("block=4", 30));
    writer.add(trial("block=1", 11));
  }
  const auto trials = finished_trials(database, session_key());
  EXPECT_EQ(configurations(trials), (std::vector<std::string>{"block=1", "block=2", "block=4"}));
  EXPECT_EQ(trials[0].median_ns, 11) << "the later measurement counts";
  EXPECT_EQ(trials[1].kind, "compile");
}

TEST_F(Session, SharesNothingWithOtherTunings) {
  SessionWriter(database, session_key()).add(trial("block=1", 10));
  auto other_conditions = session_key(), other_tuner = session_key();
  other_conditions.conditions = R"({"cold":false})";
  other_tuner.environment.tuner = "0.2.0";
  const std::pair<const char*, SessionKey> others[] = {{"sizes", session_key(4096)},
                                                       {"source", key_of_source('b')},
                                                       {"device", key_on(h100())},
                                                       {"conditions", other_conditions},
                                                       {"driver", key_with_driver("14.0")}};
  for (const auto& [what, key] : others) EXPECT_TRUE(finished_trials(database, key).empty()) << what;
  EXPECT_EQ(finished_trials(database, other_tuner).size(), 1u) << "another version of tuner measures the same";
}

TEST_F(Session, CommitsEachTrialSoonByItself) {
  use_file();
  SessionWriter writer(database, session_key());
  auto reader = Database::open_user(file);
  for (int i = 0; i < 10; ++i) {
    writer.add(trial("block=" + std::to_string(i), 10 + i));
    ASSERT_TRUE(wait_until([&] { return finished_trials(reader, session_key()).size() == std::size_t(i) + 1; }));
  }
}

TEST_F(Session, TakesTrialsWhileACommitWaitsForAnotherProcess) {
  use_file();
  SessionWriter writer(database, session_key());
  auto other = Database::open_user(file), reader = Database::open_user(file);
  const auto committed = [&] { return finished_trials(reader, session_key()).size(); };
  other.store().write([&] {
    writer.add(trial("block=1", 10));
    EXPECT_FALSE(tuner::testing::wait_until([&] { return committed() > 0; }, std::chrono::milliseconds(50)))
        << "the other process holds the file";
    writer.add(trial("block=2", 20));
    EXPECT_EQ(committed(), 0u) << "the second was taken only after the other process had gone";
  });
  EXPECT_TRUE(wait_until([&] { return committed() == 2; }));
}

TEST_F(Session, RefusesTrialsThatMakeNoSense) {
  SessionWriter writer(database, session_key());
  EXPECT_THROW(writer.add(failed_trial("block=1", "exploded", "")), CacheError);
  for (const char* bad : {"", "block", "block=1 block=2", "b=1 a=2", "block=1  x=2", "=1", "block=1\n"}) {
    EXPECT_THROW(writer.add(trial(bad, 10)), CacheError) << bad;
  }
  writer.flush();
  EXPECT_TRUE(finished_trials(database, session_key()).empty());
  auto key = session_key();
  key.kernel.source_hash = "short";
  EXPECT_THROW(SessionWriter(database, key), CacheError);
}

TEST_F(Best, ComesOnlyFromAVerifiedStoredMeasurement) {
  SessionWriter writer(database, session_key());
  EXPECT_THROW(writer.set_best("block=1"), CacheError) << "never measured";
  auto unverified = trial("block=2", 10), abandoned = trial("block=3", 10), wrong = trial("block=4", 10);
  unverified.verified = false;
  abandoned.abandoned = true;
  wrong.kind = "wrong";
  for (const auto& one : {unverified, abandoned, wrong}) {
    writer.add(one);
    EXPECT_THROW(writer.set_best(one.configuration), CacheError) << one.configuration;
  }
  EXPECT_TRUE(best_rows(database).empty());
  writer.add(trial("block=5", 10));
  writer.set_best("block=5");
  EXPECT_EQ(best_rows(database).size(), 1u);
}

TEST_F(Best, SaysForWhichTargetItsCodeIsAndWhatCheckedIt) {
  SessionWriter writer(database, session_key());
  TrialRecord measured = trial("block=5", 10);
  measured.resources.emplace().target = "sm_90a";
  writer.add(measured);
  writer.set_best("block=5", {"quick", "no: the host has no compiler\n"});
  EXPECT_EQ(best_rows(database)[0].effort, "quick");
  writer.set_effort("block=1", "thorough");
  EXPECT_EQ(best_rows(database)[0].effort, "quick") << "another one is stored by now";
  writer.set_effort("block=5", "normal");
  EXPECT_EQ(best_rows(database)[0].effort, "normal");
  ASSERT_EQ(best_rows(database).size(), 1u);
  EXPECT_EQ(best_rows(database)[0].target, "sm_90a");
  EXPECT_EQ(best_rows(database)[0].checked, "no: the host has no compiler\n");
  writer.add(trial("block=1", 8));
  writer.set_best("block=1");
  EXPECT_EQ(best_rows(database)[0].target + best_rows(database)[0].checked, "") << "of another configuration";
}

TEST_F(Best, MayComeFromAnEarlierSessionOfTheSameTuning) {
  SessionWriter(database, session_key()).add(trial("block=1", 10));
  SessionWriter writer(database, session_key());
  writer.set_best("block=1");
  EXPECT_EQ(find(database, query()).best->median_ns, 10);
  SessionWriter other(database, key_with_driver("14.0"));
  EXPECT_THROW(other.set_best("block=1"), CacheError) << "measured with another driver";
}

TEST_F(Best, MayBeMeasuredByAnEarlierRelease) {
  SessionKey earlier = session_key();
  earlier.environment.tuner = "0.0.1";
  SessionWriter(database, earlier).add(trial("block=1", 10));
  SessionWriter(database, session_key()).set_best("block=1");
  EXPECT_EQ(find(database, query()).best->median_ns, 10);
}

TEST_F(Best, IsReplacedByALaterOne) {
  store_best(database, session_key(), "block=1", 10);
  store_best(database, session_key(), "block=2", 20);
  const auto rows = best_rows(database);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].configuration, "block=2");
  EXPECT_EQ(rows[0].samples, 3);
  EXPECT_GT(rows[0].measured_ms, 0);
}

TEST_F(Quarantine, RemembersWhatCrashedOnThisDeviceOnly) {
  use_file();
  database.quarantine(h200(), reduce_kernel(), problem(), "block=2", "illegal address");
  database.quarantine(h200(), reduce_kernel(), problem(), "block=1", "hang");
  database.quarantine(h200(), reduce_kernel(), problem(), "block=1", "hang again");
  use_file();
  const auto records = database.quarantined(h200().key, reduce_kernel(), problem());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].configuration, "block=1");
  EXPECT_EQ(records[0].reason, "hang");
  EXPECT_EQ(records[1].reason, "illegal address");
  EXPECT_TRUE(database.quarantined(h100().key, reduce_kernel(), problem()).empty());
  auto changed = reduce_kernel();
  changed.source_hash = std::string(64, 'c');
  EXPECT_TRUE(database.quarantined(h200().key, changed, problem()).empty());
}

TEST_F(Quarantine, IsLiftedByDeviceKernelAndConfiguration) {
  auto scan = reduce_kernel();
  scan.name = "scan";
  database.quarantine(h200(), reduce_kernel(), problem(), "block=1", "hang");
  database.quarantine(h200(), reduce_kernel(), problem(), "block=2", "hang");
  database.quarantine(h100(), reduce_kernel(), problem(), "block=1", "hang");
  database.quarantine(h200(), scan, problem(), "block=1", "hang");
  EXPECT_EQ(quarantined(database).size(), 4u);
  EXPECT_EQ(lift_quarantine(database, {.kernel = "reduce", .device_key = h200().key}, "block=1"), 1);
  EXPECT_EQ(quarantined(database, {.kernel = "reduce"}).size(), 2u);
  EXPECT_EQ(lift_quarantine(database, {.device_key = h200().key}), 2);
  EXPECT_EQ(lift_quarantine(database, {}), 1);
  EXPECT_TRUE(quarantined(database).empty());
}

TEST_F(Quarantine, HoldsForProblemsThatAreAlike) {
  database.quarantine(h200(), reduce_kernel(), problem(1000), "block=1", "hang");
  const auto holds_for = [&](const ProblemRecord& asked) {
    return !database.quarantined(h200().key, reduce_kernel(), asked).empty();
  };
  EXPECT_TRUE(holds_for(problem(1000)));
  EXPECT_TRUE(holds_for(problem(501)));
  EXPECT_TRUE(holds_for(problem(2000)));
  EXPECT_FALSE(holds_for(problem(499)));
  EXPECT_FALSE(holds_for(problem(2001)));
  EXPECT_FALSE(holds_for(problem(0)));
  EXPECT_FALSE(holds_for({"T=double operation=sum", {{"n", 1000}}}));
  EXPECT_FALSE(holds_for({"T=float operation=sum", {{"m", 1000}}}));
  database.quarantine(h200(), reduce_kernel(), problem(1 << 20), "block=1", "hang");
  database.lift_quarantine(h200().key, reduce_kernel(), problem(1000), "block=1");
  EXPECT_FALSE(holds_for(problem(1000)));
  EXPECT_TRUE(holds_for(problem(1 << 20))) << "what is well at one size may still hang at another";
}

TEST_F(Quarantine, KeepsAConfigurationFromBeingNamedBest) {
  SessionWriter writer(database, session_key());
  writer.add(trial("block=1", 10));
  database.quarantine(h200(), reduce_kernel(), problem((1 << 20) - 3), "block=1", "it hung");
  EXPECT_THAT(error_of([&] { writer.set_best("block=1"); }), HasSubstr("quarantined on this device: it hung"));
  EXPECT_TRUE(best_rows(database).empty());
  database.lift_quarantine(h200().key, reduce_kernel(), problem(), "block=1");
  EXPECT_THROW(writer.set_best("block=1"), CacheError) << "it hung for a problem that is alike, which may happen again";
  database.lift_quarantine(h200().key, reduce_kernel(), problem((1 << 20) - 3), "block=1");
  writer.set_best("block=1");
  EXPECT_EQ(best_rows(database).size(), 1u);
}

TEST_F(Schema, IsTheOneOfItsVersion) {
  open();
  SQLite::Database db(file.string());
  SQLite::Statement row(db, "SELECT group_concat(sql, ';' || char(10)) || ';' || char(10) FROM sqlite_schema");
  ASSERT_TRUE(row.executeStep());
  ASSERT_EQ(kSchemaVersion, 10);
  EXPECT_EQ(row.getColumn(0).getString(),
            read_file(std::filesystem::path(TUNER_SOURCE_DIR) / "tests/cache/schema_10.sql"))
      << "another schema has another version";
}

TEST_F(Statistics, CountWhatIsThere) {
  auto database = open();
  store_best(database, session_key(), "block=1", 10);
  SessionWriter(database, session_key(64)).add(failed_trial("block=2", "timeout", "1 s"));
  const auto all = statistics(database);
  EXPECT_EQ(all.path, file.string());
  EXPECT_EQ(all.sessions, 2);
  EXPECT_EQ(all.unfinished_sessions, 1);
  EXPECT_EQ(all.trials, 2);
  EXPECT_EQ(all.failed_trials, 1);
  EXPECT_EQ(all.best, 1);
  EXPECT_EQ(all.schema_version, kSchemaVersion);
  EXPECT_GT(all.file_bytes, 0);
  EXPECT_EQ(all.journal_mode, "delete");
  EXPECT_TRUE(doctor(database).empty());
  const auto known = kernels(database);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].trials, 2);
  EXPECT_EQ(known[0].problems, 1);
  EXPECT_EQ(sessions(database).size(), 2u);
  EXPECT_TRUE(sessions(database, {.kernel = "other"}).empty());
}

}  // namespace
}  // namespace tuner::cache::test
