#include <tuner/cli/options.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tuner/cli/tune_request.hpp>

#include <tests/matchers.hpp>
#include <tests/temporary_folder.hpp>

namespace tuner::cli {
namespace {

/// Reads a line of words as a `tune` command line.
TuneRequest read(const std::string& line) { return read_tune_request(split_words(line, "the test")); }

/// The message of the UsageError that \p line causes.
std::string refusal_of(const std::string& line) {
  try {
    read(line);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TuneRequest, HasSensibleDefaults) {
  const TuneRequest request = read("reduce");
  EXPECT_EQ(request.what.kernel, "reduce");
  EXPECT_EQ(request.tuning.session.strategy, "auto");
  EXPECT_EQ(request.tuning.isolation, Isolation::process);
  EXPECT_FALSE(request.tuning.session.budget.wall_time || request.tuning.session.budget.trials);
  EXPECT_TRUE(request.tuning.resume);
  EXPECT_TRUE(request.tuning.measure.cold);
  EXPECT_EQ(request.tuning.measure.max_seconds, 1);
}

TEST(TuneRequest, SaysWhatItDoesNotUnderstand) {
  const std::pair<const char*, const char*> table[] = {
      {"", "which kernel?"},
      {"reduce extra", "too many arguments"},
      {"--kernel", "kernel"},
      {"k --x%canonical_option%", "unknown option"},  // Boost would put it into its message for ever
      {"--json=%canonical_option%", "'--json=%canonical_option%' is no option of this command"},
      {"k --trails=3", "did you mean '--trials'?"},
      {"k --trials 0", "--trials"},
      {"k --measure-for soon", "--measure-for"},
      {"k --isolation jail", "process"},
      {"k --objective energy_j", "nown: time, time_hot"},
      {"k --objective tiem", "nown: time, time_hot"},
      {"k --objective ''", "nown: time, time_hot"},
      {"k --strategy randon", "did you mean 'random'?"},
      {"k --strategy x", "auto"},
      {"k --device gpu", "unknown device 'gpu'"},
      {"k --device 0,gpu", "unknown device 'gpu'"},
      {"k --option tree=16", "strategy 'auto' has no option 'tree'"},
      {"k --option tree=16", "did you mean 'trees'"}};
  for (const auto& [line, message] : table) EXPECT_THAT(refusal_of(line), HasSubstr(message)) << line;
}

TEST(TuneRequest, TunesARecordingWhereItsLaunchWas) {
  ASSERT_EQ(unsetenv("TUNER_DEVICE"), 0);
  const testing::TemporaryFolder folder;
  const std::string list = (folder / "recording.json").string();
  const auto device_of = [&](const char* backend, const std::string& more = "") {
    std::ofstream(list) << R"({"device": {"backend": ")" << backend << "\"}}";
    return read("--recording " + list + more).device;
  };
  EXPECT_EQ(device_of("host"), "host");
  EXPECT_EQ(device_of("cuda"), "auto");
  EXPECT_EQ(device_of("host", " --device 1"), "1");
}

TEST(TuneRequest, ReadsEveryLimit) {
  const TuneRequest request =
      read("k --budget 1m --trials=2k --budget 50% --target 12us --until-unlikely 0.01 --measure-for 200ms --force");
  const Budget& budget = request.tuning.session.budget;
  EXPECT_DOUBLE_EQ(budget.wall_time->count(), 60);
  EXPECT_EQ(budget.trials, 2048u);
  EXPECT_EQ(budget.fraction, 0.5);
  EXPECT_DOUBLE_EQ(*budget.target, 12e3);
  EXPECT_EQ(budget.until_unlikely, 0.01);
  EXPECT_EQ(request.tuning.measure.max_seconds, 0.2);
  EXPECT_FALSE(request.tuning.resume);
}

TEST(TuneRequest, HotIsAnObjectiveOfItsOwn) {
  for (const TuneRequest& request : {read("k --hot"), read("k --objective time_hot")}) {
    EXPECT_EQ(request.tuning.session.objective.name, "time_hot");
    EXPECT_FALSE(request.tuning.measure.cold);
  }
}

TEST(TuneRequest, ReadsOptionsOfTheStrategy) {
  const TuneRequest request = read("-k reduce --option trees=16,start=8 --option leaf=2 --no-prior");
  EXPECT_EQ(request.tuning.session.strategy_options,
            (std::map<std::string, double>{{"trees", 16}, {"start", 8}, {"leaf", 2}}));
  EXPECT_FALSE(request.tuning.learn_from_elsewhere);
}

TEST(TuneRequest, ReadsWhatAProgramThatStartsItAsksFor) {
  const TuneRequest request = read("reduce --no-ceilings --no-host-check --parent 7");
  EXPECT_TRUE(request.without_ceilings);
  EXPECT_FALSE(request.tuning.host_check);
  EXPECT_EQ(request.parent, 7);
  EXPECT_EQ(read("reduce").parent, 0);
}

TEST(TuneRequest, TakesTheDeviceFromTheEnvironmentUnlessItIsGiven) {
  ASSERT_EQ(setenv("TUNER_DEVICE", "host", 1), 0);
  EXPECT_EQ(read("reduce").device, "host");
  EXPECT_EQ(read("reduce --device 0").device, "0");
  ASSERT_EQ(unsetenv("TUNER_DEVICE"), 0);
  EXPECT_EQ(read("reduce").device, "auto");
}

}  // namespace
}  // namespace tuner::cli
