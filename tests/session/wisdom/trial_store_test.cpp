#include <tuner/session/wisdom/trial_store.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cache/query/browse.hpp>

#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/wisdom.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

#include <tests/support/session_fakes.hpp>

namespace tuner {
namespace {

using namespace tuner::testing;

class TrialStoreTest : public ::testing::Test {
 protected:
  TrialStore store(StoreOptions options = {}) { return {database_, spec_, size_, device_, std::move(options)}; }

  cache::Database database_ = cache::Database::in_memory();
  const KernelSpec spec_ = small_kernel();
  const ProblemSize size_ = small_problem();
  const Device device_ = some_device();
  const Configuration one_{{"block", 32}, {"unroll", 1}};
  const Configuration two_{{"block", 64}, {"unroll", 1}};
};

TEST_F(TrialStoreTest, GivesBackWhatItWasGiven) {
  Trial trial = measured(one_, 1234.5, 17);
  std::get<Measurement>(trial.outcome).metrics["energy_j"] = 2.5;
  std::get<Measurement>(trial.outcome).no_metrics = "not permitted";
  trial.times.compile = 0.25;
  trial.search = SearchTime{1200, 1190, 1210};
  const Trial back = from_record(to_record(trial)).value();
  ASSERT_TRUE(back.search);
  EXPECT_EQ(back.search->median_ns, 1200);
  EXPECT_EQ(back.search->low_ns, 1190);
  EXPECT_EQ(back.search->high_ns, 1210);
  EXPECT_EQ(back.configuration, trial.configuration);
  EXPECT_EQ(back.measurement()->median_ns, 1234.5);
  EXPECT_EQ(back.measurement()->samples_ns, trial.measurement()->samples_ns);
  EXPECT_EQ(back.measurement()->metrics, trial.measurement()->metrics);
  EXPECT_EQ(back.measurement()->no_metrics, "not permitted");
  EXPECT_EQ(back.resources->registers, 17);
  EXPECT_EQ(back.times.compile, 0.25);
  EXPECT_TRUE(back.verified);
}

TEST_F(TrialStoreTest, KeepsTheKindAndMessageOfEveryFailure) {
  const Outcome failures[] = {CompileError{"no", "log"}, LaunchError{"no"}, Timeout{"no"}, WrongResult{"no"},
                              Invalid{"no"}};
  for (const Outcome& failure : failures) {
    const Trial back = from_record(to_record(failed(one_, failure))).value();
    EXPECT_EQ(back.outcome.index(), failure.index());
    EXPECT_EQ(message(back.outcome), "no");
  }
}

TEST_F(TrialStoreTest, ResumesAnInterruptedSession) {
  {
    TrialStore first = store();
    first.append(measured(one_, 1000));
    first.append(failed(two_, WrongResult{"no"}));
  }  // never finished
  const std::vector<Trial> trials = store().resume();
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].configuration, one_);
  EXPECT_EQ(kind(trials[1].outcome), "wrong");
}

TEST_F(TrialStoreTest, LiftsTheQuarantineOfAVerifiedConfigurationThoughTheDatabaseWasLockedAtFirst) {
  const TemporaryFolder folder;
  const cache::Context context = context_of(spec_, size_, device_, {});
  const auto open = [&] {
    return cache::Database::open_user(folder / "wisdom.db", {.busy_timeout = std::chrono::milliseconds(0),
                                                             .look_again = std::chrono::milliseconds(0)});
  };
  {
    cache::Database before = open();
    for (const Configuration& one : {one_, two_})
      before.quarantine(context.device, context.kernel, context.problem, one.text(), "it hung");
  }
  cache::Database database = open();
  StoreOptions again;
  again.resume = false;
  const int file = ::open((folder / "wisdom.db").c_str(), O_RDWR | O_CLOEXEC);
  struct flock all {};  // as of another process: what SQLite locks while it commits
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  all.l_start = 0x40000000;
  all.l_len = 512;
  ASSERT_EQ(::fcntl(file, F_OFD_SETLK, &all), 0);
  TrialStore store(database, spec_, size_, device_, again);
  store.append(measured(one_, 1000));
  all.l_type = F_UNLCK;
  ASSERT_EQ(::fcntl(file, F_OFD_SETLK, &all), 0);
  store.append(measured(two_, 1000));
  (void)store.finish(nullptr, std::nullopt);
  ::close(file);
  cache::Database after = open();
  EXPECT_THAT(after.quarantined(context.device.key, context.kernel, context.problem), IsEmpty());
}

TEST_F(TrialStoreTest, DoesNotResumeTrialsMadeUnderOtherConditions) {
  {
    StoreOptions hot;
    hot.conditions = R"({"cold":false})";
    store(hot).append(measured(one_, 1000));
  }
  EXPECT_TRUE(store().resume().empty());
}

TEST_F(TrialStoreTest, DoesNotResumeAMeasurementThatLacksAMetricAskedOfEveryTrial) {
  Trial counted = measured(one_, 1000);
  std::get<Measurement>(counted.outcome).metrics = {{"ipc", 2.5}};
  {
    TrialStore first = store();
    first.append(counted);
    first.append(measured(two_, 2000));
  }
  StoreOptions with_metrics;
  with_metrics.metrics = {"ipc"};
  const std::vector<Trial> trials = store(with_metrics).resume();
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].configuration, one_);
  with_metrics.metrics = {"ipc", "gld_efficiency"};
  EXPECT_TRUE(store(with_metrics).resume().empty());
}

TEST_F(TrialStoreTest, ResumesAFailureWhateverMetricsAreAskedFor) {
  store().append(failed(two_, WrongResult{"no"}));
  StoreOptions with_metrics;
  with_metrics.metrics = {"ipc"};
  EXPECT_EQ(store(with_metrics).resume().size(), 1u);
}

TEST_F(TrialStoreTest, ForgetsEarlierTrialsWhenAskedToMeasureAgain) {
  store().append(measured(one_, 1000));
  StoreOptions again;
  again.resume = false;
  EXPECT_TRUE(store(again).resume().empty());
}

TEST_F(TrialStoreTest, QuarantinesWhatTookItsWorkerDownAndNothingElse) {
  Trial crashed = failed(one_, LaunchError{"killed by signal 11"});  // its resources were never reported
  crashed.crashed = true;
  store().append(crashed);
  EXPECT_TRUE(store().quarantined(one_));
  Trial survived = failed(two_, LaunchError{"no room for 4096 bytes"});
  survived.resources = Resources{};
  store().append(survived);
  store().append(failed(two_, Timeout{"its worker was stopped"}));
  EXPECT_FALSE(store().quarantined(two_));
}

TEST_F(TrialStoreTest, KeepsNothingOfFaultsOfTheMachine) {
  store().append(failed(one_, CompileError{"cannot write /tmp/unit.cpp: No space left on device", "", true}));
  store().append(failed(two_, LaunchError{"no room for 4096 bytes", 0, true}));
  EXPECT_TRUE(store().resume().empty());
}

TEST_F(TrialStoreTest, LetsOutOfQuarantineWhatIsWellWhenItIsMeasuredAgain) {
  Trial crashed = failed(one_, LaunchError{"killed by signal 11"});
  crashed.crashed = true;
  store().append(crashed);
  StoreOptions force;
  force.resume = false;
  {
    TrialStore again = store(force);
    EXPECT_FALSE(again.quarantined(one_));
    again.append(measured(one_, 1000));
  }
  EXPECT_FALSE(store().quarantined(one_));
}

TEST_F(TrialStoreTest, QuarantinesWhatHungOnThisDeviceOnly) {
  Trial hung = failed(one_, Timeout{"hung in verify"});
  hung.crashed = true;
  store().append(hung);
  EXPECT_EQ(store().quarantined(one_), "hung in verify");
  EXPECT_FALSE(store().quarantined(two_));
  Device other = device_;
  other.key.sm_count = 80;
  EXPECT_FALSE(TrialStore(database_, spec_, size_, other, {}).quarantined(one_));
}

TEST_F(TrialStoreTest, ServesTheBestOfAFinishedSession) {
  TrialStore writing = store();
  const Trial best = measured(one_, 1000);
  writing.append(best);
  writing.finish(&best, Spent{});
  cache::Database* const databases[] = {&database_};
  const auto match = cache::lookup(context_of(spec_, size_, device_, Objective{}), databases);
  ASSERT_TRUE(match);
  EXPECT_EQ(match.tier, cache::Tier::exact);
  EXPECT_EQ(match.best->configuration, one_.text());
}

TEST_F(TrialStoreTest, KeepsABestThatWasNotMeasuredAgainBesideTheNewOne) {
  StoreOptions force;
  force.resume = false;
  const Trial first = measured(one_, 1000);
  const auto tune = [&](const Trial& found) {
    TrialStore writing = store(force);
    writing.append(found);
    return writing.finish(&found, Spent{});
  };
  EXPECT_EQ(tune(first), std::nullopt);
  EXPECT_EQ(store(force).standing(), one_);
  for (const double ns : {2000, 500}) EXPECT_EQ(tune(measured(two_, ns)), one_.text()) << "times of two sessions";
  EXPECT_EQ(cache::best_rows(database_).at(0).configuration, one_.text());
  EXPECT_EQ(tune(measured(one_, 3000)), std::nullopt) << "it was measured again";
  EXPECT_EQ(cache::best_rows(database_).at(0).median_ns, 3000);
}

TEST_F(TrialStoreTest, RaisesTheEffortOfABestThatASearchContinuesAndLeaves) {
  const auto tune = [&](const Configuration& configuration, double ns, const char* effort, bool resume) {
    StoreOptions options;
    options.resume = resume;
    TrialStore writing = store(options);
    const Trial found = measured(configuration, ns);
    writing.append(found);
    writing.finish(&found, Spent{}, {effort, {}});
    return cache::best_rows(database_).at(0);
  };
  EXPECT_EQ(tune(one_, 1000, "quick", true).effort, "quick");
  EXPECT_EQ(store().resumed_effort(), Effort::quick);
  const cache::BestRecord raised = tune(two_, 2000, "normal", true);
  EXPECT_EQ(raised.configuration, one_.text());
  EXPECT_EQ(raised.effort, "normal");
  EXPECT_EQ(tune(two_, 2000, "thorough", false).effort, "normal") << "it was not measured beside the new one";
}

TEST_F(TrialStoreTest, ObjectsToWhatCrashedSinceItBeganForAProblemLikeIts) {
  TrialStore writing = store();
  const Trial good = measured(one_, 1000);
  writing.append(good);
  EXPECT_FALSE(writing.objection(one_));
  const cache::Context context = context_of(spec_, size_, device_, Objective{});
  database_.quarantine(context.device, context.kernel, context.problem, one_.text(), "it hung");
  EXPECT_EQ(writing.objection(one_), "it hung");
}

TEST(DeviceRecord, GivesItsCeilingsToADeviceThatHasNone) {
  Device measured;
  measured.ceilings.copy = 1.234e12;
  Device device;
  take_ceilings(device, to_record(measured));
  EXPECT_DOUBLE_EQ(device.ceilings.copy, 1.23e12);
  EXPECT_EQ(device.ceilings.read, 0);
  take_ceilings(measured, to_record(device));
  EXPECT_DOUBLE_EQ(measured.ceilings.copy, 1.234e12);
  for (const char* strange : {"", "[]", "{\"copy_bytes_per_s\":\"fast\"}", "{\"copy_bytes_per_s\":-1}"}) {
    cache::DeviceRecord record;
    record.properties = strange;
    Device other;
    take_ceilings(other, record);
    EXPECT_EQ(other.ceilings.copy, 0) << strange;
  }
}

TEST_F(TrialStoreTest, ResumesNoTrialsThatWereMeasuredForAnotherTime) {
  TuningOptions longer;
  longer.measure.max_seconds = 5;
  EXPECT_NE(conditions_text(longer, {}), conditions_text({}, {}));
}

}  // namespace
}  // namespace tuner
