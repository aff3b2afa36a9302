#include <tuner/cli/options.hpp>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuner/cli/tune_request.hpp>

#include <tests/temporary_folder.hpp>

namespace tuner::cli {
namespace {

using ::testing::HasSubstr;

/// What reading a `tune` command line of \p arguments gives.
TuneRequest read(const std::vector<const char*>& arguments) {
  std::vector<std::string> texts{"tune"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  return read_tune_request(static_cast<int>(argv.size()), argv.data());
}

/// The message of the UsageError that \p arguments cause.
std::string complaint(std::initializer_list<const char*> arguments) {
  try {
    read(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TuneRequest, HasSensibleDefaults) {
  const TuneRequest request = read({"--kernel", "reduce"});
  EXPECT_EQ(request.kernel, "reduce");
  EXPECT_EQ(request.tuning.session.strategy, "auto");
  EXPECT_EQ(request.tuning.isolation, Isolation::process);
  EXPECT_FALSE(request.tuning.session.budget.wall_time || request.tuning.session.budget.trials);
  EXPECT_TRUE(request.tuning.resume);
  EXPECT_TRUE(request.tuning.measure.cold);
}

TEST(TuneRequest, RefusesAnOptionThatBoostWouldPutIntoItsMessageForEver) {
  EXPECT_THAT(complaint({"--kernel", "reduce", "--x%canonical_option%"}), HasSubstr("unknown option"));
  EXPECT_EQ(complaint({"--json=%canonical_option%"}), "'--json=%canonical_option%' is no option of this command");
}

TEST(TuneRequest, TunesARecordingWhereItsLaunchWas) {
  ASSERT_EQ(unsetenv("TUNER_DEVICE"), 0);
  const testing::TemporaryFolder folder;
  const std::string list = (folder / "recording.json").string();
  const auto device_of = [&](const char* backend, std::initializer_list<const char*> more = {}) {
    std::ofstream(list) << R"({"device": {"backend": ")" << backend << "\"}}";
    std::vector<const char*> arguments{"--recording", list.c_str()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return read(arguments).device;
  };
  EXPECT_EQ(device_of("host"), "host");
  EXPECT_EQ(device_of("cuda"), "auto");
  EXPECT_EQ(device_of("host", {"--device", "1"}), "1");
}

TEST(TuneRequest, ReadsEveryLimit) {
  const Budget budget = read({"--kernel", "k", "--budget", "1m", "--trials=2k", "--budget", "50%", "--target", "12us",
                              "--until-unlikely", "0.01"})
                            .tuning.session.budget;
  EXPECT_DOUBLE_EQ(budget.wall_time->count(), 60);
  EXPECT_EQ(budget.trials, 2048u);
  EXPECT_EQ(budget.fraction, 0.5);
  EXPECT_EQ(budget.target, 12e3);
  EXPECT_EQ(budget.until_unlikely, 0.01);
}

TEST(TuneRequest, ReadsHowLongOneConfigurationIsMeasured) {
  EXPECT_EQ(read({"--kernel", "k"}).tuning.measure.max_seconds, 1);
  EXPECT_EQ(read({"--kernel", "k", "--measure-for", "200ms"}).tuning.measure.max_seconds, 0.2);
  EXPECT_THAT(complaint({"--kernel", "k", "--measure-for", "soon"}), HasSubstr("--measure-for"));
}

TEST(TuneRequest, RefusesAnObjectiveThatNothingMeasures) {
  for (const char* const name : {"energy_j", "tiem", ""})
    EXPECT_THAT(complaint({"--kernel", "k", "--objective", name}), HasSubstr("nown: time, time_hot")) << name;
}

TEST(TuneRequest, HotIsAnObjectiveOfItsOwn) {
  for (const TuneRequest& request : {read({"-k", "k", "--hot"}), read({"-k", "k", "--objective", "time_hot"})}) {
    EXPECT_EQ(request.tuning.session.objective.name, "time_hot");
    EXPECT_FALSE(request.tuning.measure.cold);
  }
}

TEST(TuneRequest, ForceMeasuresAgain) { EXPECT_FALSE(read({"-k", "reduce", "--force"}).tuning.resume); }

TEST(TuneRequest, SuggestsTheNearestOption) {
  EXPECT_THAT(complaint({"--kernal", "reduce"}), HasSubstr("did you mean '--kernel'?"));
  EXPECT_THAT(complaint({"--kernel", "reduce", "--trails=3"}), HasSubstr("did you mean '--trials'?"));
}

TEST(TuneRequest, SuggestsTheNearestStrategyAndListsThem) {
  const std::string text = complaint({"--kernel", "reduce", "--strategy", "randon"});
  EXPECT_THAT(text, HasSubstr("did you mean 'random'?"));
  EXPECT_THAT(text, HasSubstr("auto"));
}

TEST(TuneRequest, ReadsOptionsOfTheStrategy) {
  const TuneRequest request =
      read({"-k", "reduce", "--option", "trees=16,start=8", "--option", "leaf=2", "--no-prior"});
  EXPECT_EQ(request.tuning.session.strategy_options,
            (std::map<std::string, double>{{"trees", 16}, {"start", 8}, {"leaf", 2}}));
  EXPECT_FALSE(request.tuning.learn_from_elsewhere);
}

TEST(TuneRequest, SuggestsTheNearestOptionOfTheStrategy) {
  const std::string text = complaint({"-k", "reduce", "--option", "tree=16"});
  for (const char* const part : {"strategy 'auto' has no option 'tree'", "did you mean 'trees'"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(TuneRequest, SaysWhatIsMissingOrTooMuch) {
  EXPECT_THAT(complaint({}), HasSubstr("which kernel?"));
  EXPECT_THAT(complaint({"reduce", "extra"}), HasSubstr("too many arguments"));
  EXPECT_EQ(read({"reduce"}).kernel, "reduce");
  EXPECT_THAT(complaint({"--kernel"}), HasSubstr("kernel"));
  EXPECT_THAT(complaint({"--kernel", "reduce", "--trials", "0"}), HasSubstr("--trials"));
  EXPECT_THAT(complaint({"--kernel", "reduce", "--isolation", "jail"}), HasSubstr("process"));
}

TEST(TuneRequest, TakesTheDeviceFromTheEnvironmentUnlessItIsGiven) {
  ASSERT_EQ(setenv("TUNER_DEVICE", "host", 1), 0);
  EXPECT_EQ(read({"--kernel", "reduce"}).device, "host");
  EXPECT_EQ(read({"--kernel", "reduce", "--device", "0"}).device, "0");
  ASSERT_EQ(unsetenv("TUNER_DEVICE"), 0);
  EXPECT_EQ(read({"--kernel", "reduce"}).device, "auto");
}

}  // namespace
}  // namespace tuner::cli
