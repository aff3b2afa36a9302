#include <tuner/cli/input/options.hpp>

#include <cstdlib>
#include <fstream>

#include <tuner/cli/input/tune_arguments.hpp>

#include <tests/support/environment_variable.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner::cli {
namespace {

/// Reads a line of words as a `tune` command line.
TuneArguments read(const std::string& line) { return read_tune_arguments(split_words(line, "the test")); }

/// The message of the UsageError that \p line causes.
std::string refusal_of(const std::string& line) {
  return error_of<UsageError>([&] { read(line); });
}

TEST(TuneArguments, HasSensibleDefaults) {
  const TuneArguments request = read("reduce");
  EXPECT_EQ(request.what.kernel, "reduce");
  EXPECT_EQ(request.tuning.session.strategy, "auto");
  EXPECT_EQ(request.tuning.isolation, Isolation::process);
  EXPECT_FALSE(request.tuning.session.budget.wall_time || request.tuning.session.budget.trials);
  EXPECT_TRUE(request.tuning.resume);
  EXPECT_EQ(request.tuning.measure.use, Use::single);
  EXPECT_EQ(request.tuning.measure.max_seconds, 1);
}

TEST(TuneArguments, TakeTheEffortOfTheOptionElseOfTheEnvironmentUnlessThereIsALimit) {
  EXPECT_EQ(read("k").tuning.effort, Effort::normal);
  EXPECT_EQ(read("k --fix a=1").tuning.effort, std::nullopt) << "all of a part is tried";
  EXPECT_EQ(read("k --fix a=1 --effort quick").tuning.effort, Effort::quick);
  const testing::EnvironmentVariable variable("TUNER_EFFORT", "thorough");
  EXPECT_EQ(read("k").tuning.effort, Effort::thorough);
  EXPECT_EQ(read("k --effort quick").tuning.effort, Effort::quick);
  for (const char* const limit : {"--budget 5s", "--trials 3", "--target 2us", "--until-unlikely 0.1"})
    EXPECT_EQ(read("k " + std::string(limit)).tuning.effort, std::nullopt) << limit;
  const testing::EnvironmentVariable misspelt("TUNER_EFFORT", "norml");
  EXPECT_EQ(refusal_of("k"),
            "TUNER_EFFORT: unknown effort 'norml'; did you mean 'normal'? Known: none, quick, normal, thorough.");
}

TEST(TuneArguments, SaysWhatItDoesNotUnderstand) {
  const std::pair<const char*, const char*> table[] = {
      {"", "which kernel?"},
      {"reduce extra", "too many arguments"},
      {"--kernel", "kernel"},
      {"k --x%canonical_option%", "unknown option"},  // Boost would put it into its message for ever
      {"--json=%canonical_option%", "'--json=%canonical_option%' is not an option of this command"},
      {"k --trails=3", "did you mean '--trials'?"},
      {"k --trials 0", "--trials"},
      {"k --measure-for soon", "--measure-for"},
      {"k --isolation jail", "process"},
      {"k --objective energy_j", "nown: time, time_hot"},
      {"k --objective tiem", "nown: time, time_hot"},
      {"k --objective ''", "nown: time, time_hot"},
      {"k --as grpah", "did you mean 'graph'?"},
      {"k --as graph --objective energy", "--as and --objective energy do not go together"},
      {"k --as graph --objective time_hot", "--as and --objective time_hot do not go together"},
      {"--missed --as graph", "--missed is about the time of calls"},
      {"k --strategy randon", "did you mean 'random'?"},
      {"k --strategy x", "auto"},
      {"k --device gpu", "unknown device 'gpu'"},
      {"k --device 0,gpu", "unknown device 'gpu'"},
      {"k --option tree=16", "strategy 'auto' has no option 'tree'"},
      {"k --option tree=16", "did you mean 'trees'"}};
  for (const auto& [line, message] : table) EXPECT_THAT(refusal_of(line), HasSubstr(message)) << line;
}

TEST(TuneArguments, TunesARecordingWhereItsLaunchWas) {
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

TEST(TuneArguments, ReadsEveryLimit) {
  const TuneArguments request =
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

TEST(TuneArguments, EveryUseIsAnObjectiveOfItsOwn) {
  for (const NamedUse& use : kUses) {
    const std::string as = "k --as " + std::string(use.name), objective = "k --objective " + std::string(use.objective);
    for (const TuneArguments& request : {read(as), read(objective), read(as + " --objective time,energy")}) {
      EXPECT_EQ(request.tuning.session.objective.name, use.objective);
      EXPECT_EQ(named(request.tuning.measure.use).name, use.name);
    }
  }
  EXPECT_EQ(read("k --objective energy").tuning.measure.use, Use::single);
}

TEST(TuneArguments, ReadsOptionsOfTheStrategy) {
  const TuneArguments request = read("-k reduce --option trees=16,start=8 --option leaf=2 --no-prior");
  EXPECT_EQ(request.tuning.session.strategy_options,
            (std::map<std::string, double>{{"trees", 16}, {"start", 8}, {"leaf", 2}}));
  EXPECT_FALSE(request.tuning.learn_from_elsewhere);
}

TEST(TuneArguments, ReadsWhatAProgramThatStartsItAsksFor) {
  const TuneArguments request = read("reduce --no-ceilings --no-host-check --parent 7");
  EXPECT_TRUE(request.without_ceilings);
  EXPECT_FALSE(request.tuning.host_check);
  EXPECT_EQ(request.parent, 7);
  EXPECT_EQ(read("reduce").parent, 0);
}

TEST(TuneArguments, TakesTheDeviceFromTheEnvironmentUnlessItIsGiven) {
  ASSERT_EQ(setenv("TUNER_DEVICE", "host", 1), 0);
  EXPECT_EQ(read("reduce").device, "host");
  EXPECT_EQ(read("reduce --device 0").device, "0");
  ASSERT_EQ(unsetenv("TUNER_DEVICE"), 0);
  EXPECT_EQ(read("reduce").device, "auto");
}

TEST(ParseCount, ReadsTheFormsThatPeopleWrite) {
  const std::pair<const char*, std::int64_t> table[] = {
      {"0", 0},          {"4096", 4096},       {"4k", 4096},
      {"4K", 4096},      {"16M", 16 << 20},    {"1G", 1 << 30},
      {"2T", 1ll << 41}, {"1e6", 1000000},     {"2.5e3", 2500},
      {"0.5k", 512},     {"2^24", 1 << 24},    {"2**10", 1024},
      {" 33 ", 33},      {"10^9", 1000000000}, {"9223372036854775807", 9223372036854775807ll}};
  for (const auto& [text, value] : table) EXPECT_EQ(parse_count(text, "--size"), value) << text;
}

TEST(ParseCount, RejectsWhatIsNoWholeNumber) {
  for (const char* text : {"",      " ",    "x",    "-1",   "1.5", "1e-3", "4kk",  "k",   "^",
                           "2^",    "^2",   "2^99", "1e30", "nan", "inf",  "0x10", "1,5", "99999999999999999999",
                           "2^0.5", "-2^4", "1 2"})
    EXPECT_THROW(parse_count(text, "--size"), UsageError) << text;
}

TEST(ParseCount, NamesTheOptionAndTheTextInItsMessage) {
  EXPECT_THAT(error_of<UsageError>([] { parse_count("much", "--trials"); }), Holds("--trials: 'much'", "4k"));
}

TEST(ParseCount, SaysWhetherANumberIsTooLargeOrTooSmall) {
  const auto complaint = [](const char* text, std::int64_t low) {
    return error_of<UsageError>([&] { parse_count(text, "--trials", low); });
  };
  EXPECT_EQ(complaint("1e18", 0), "--trials: '1e18' is too large: give at most 2^53");
  EXPECT_EQ(complaint("2^99", 0), "--trials: '2^99' is too large: give at most 2^53");
  EXPECT_EQ(complaint("-1", 1), "--trials: must be at least 1, not -1");
  EXPECT_EQ(complaint("0", 1), "--trials: must be at least 1, not 0");
  EXPECT_EQ(complaint("-2k", 0), "--trials: must be at least 0, not -2k");
}

TEST(ParseCount, NamesTheRangeThatItChecks) {
  EXPECT_EQ(parse_count("1k", "--repeats", 1, 10000), 1024);
  for (const std::string text : {"0", "99999999999"})
    EXPECT_EQ(error_of<UsageError>([&] { parse_count(text, "--repeats", 1, 10000); }),
              "--repeats: " + text + " is not between 1 and 10000");
}

TEST(ParseDuration, ReadsUnitsAndTheirSums) {
  const std::pair<const char*, double> table[] = {{"30s", 30},   {"500ms", 0.5}, {"12us", 12e-6}, {"5m", 300},
                                                  {"2.5m", 150}, {"1h", 3600},   {" 1m30s ", 90}, {"1min", 60}};
  for (const auto& [text, seconds] : table) EXPECT_DOUBLE_EQ(parse_duration(text, "--budget").count(), seconds) << text;
}

TEST(ParseDuration, RejectsNothingAndNegativeAndMissingOrUnknownUnits) {
  for (const char* text : {"", "0", "90", "0s", "-5s", "5 parsecs", "s", "5s5", "5x5s", "1..5s", "soon"})
    EXPECT_THROW(parse_duration(text, "--budget"), UsageError) << text;
}

TEST(ParseNumber, ChecksItsRange) {
  EXPECT_DOUBLE_EQ(parse_number("0.25", "--until-unlikely", 0, 1), 0.25);
  for (const char* text : {"1.5", "-0.1", "half", "nan"})
    EXPECT_THROW(parse_number(text, "--until-unlikely", 0, 1), UsageError) << text;
}

TEST(ParseSizes, ReadsNamedSizes) {
  EXPECT_THAT(parse_sizes("nx=4k,ny=2^10", "--size"), ElementsAre(Pair("nx", 4096), Pair("ny", 1024)));
  EXPECT_THAT(parse_sizes(" nx = 3 , ny=4", "--size"), ElementsAre(Pair("nx", 3), Pair("ny", 4)));
  EXPECT_THAT(parse_sizes("nx=3 ny=4", "--size"), ElementsAre(Pair("nx", 3), Pair("ny", 4)));
}

TEST(ParseSizes, RejectsRepeatedNamesAndMissingParts) {
  for (const char* text : {"", "nx", "nx=", "=4", "nx=1,nx=2", "nx=one"})
    EXPECT_THROW(parse_sizes(text, "--size"), UsageError) << text;
}

TEST(Split, DropsBlanksAndEmptyParts) {
  EXPECT_THAT(split({"a; b ;;c", "", "d"}, ';'), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(split({}, ','), IsEmpty());
}

}  // namespace
}  // namespace tuner::cli
