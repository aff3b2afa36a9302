// An option that has no effect is an error, of every command.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

using ::testing::HasSubstr;

class Effect : public ProgramTest {
 protected:
  using Line = std::vector<std::string>;
  /// Each is refused as a mistake of the command line, for its reason, and leaves no file.
  void expect_refused(const std::vector<std::pair<Line, const char*>>& table) {
    for (const auto& [line, why] : table) {
      const Finished run = tune(line);
      std::string text;
      for (const std::string& word : line) text += word + ' ';
      EXPECT_EQ(run.code, 2) << text << run.err;
      EXPECT_THAT(run.err, HasSubstr(why)) << text;
    }
    EXPECT_FALSE(std::filesystem::exists(folder() / "-"));
  }
};

TEST_F(Effect, OfEveryOptionOrItIsAnError) {
  const std::string kernel = small_kernel();
  file("a.wisdom", "");
  expect_refused({
      {{"--kernel", kernel, "--json", "--rows", "3"}, "--rows has no effect with --json"},
      {{"--kernel", kernel, "--quiet", "--rows", "3"}, "--rows has no effect with --quiet"},
      {{"--kernel", kernel, "--quiet", "--verbose"}, "--verbose has no effect with --quiet"},
      {{"--kernel", kernel, "--metrics-for", "all"}, "--metrics-for has no effect without --metrics"},
      {{"run", "--kernel", kernel, "--arch", "sm_90"}, "--arch has no effect without --ptx or --sass"},
      {{"run", "--kernel", kernel, "--ptx", "--arch", "sm_90", "--json"}, "--json has no effect with --ptx"},
      {{"run", "--kernel", kernel, "--ptx", "--arch", "sm_90", "--once"}, "--once has no effect with --ptx"},
      {{"run", "--kernel", kernel, "--ptx", "--arch", "sm_90", "--cpu"}, "--cpu has no effect with --ptx"},
      {{"run", "--kernel", kernel, "--sass", "--metrics", "ipc"}, "--metrics has no effect with --ptx"},
      {{"run", "--kernel", kernel, "--ptx", "--arch", "sm_90", "--device", "0"}, "--device has no effect with --arch"},
      {{"export", "--header", "x.hpp", "--kernel", kernel, "--all"}, "--all has no effect"},
      {{"export", "--t4", "x.json", "--all"}, "--all has no effect"},
      {{"export", "x.wisdom", "--size", "n=1"}, "--size has no effect without --t4"},
      {{"export", "--header", "x.hpp", "--kernel", kernel, "--choice", "T=int"}, "--choice has no effect without --t4"},
      {{"export", "x.wisdom", "--portfolio", "2"}, "--portfolio belongs to --header"},
      {{"export", "-", "--force"}, "--force has no effect on standard output"},
      {{"export", "--header", "-", "--kernel", kernel, "--force"}, "--force has no effect on standard output"},
      {{"compare", "a.wisdom", "a.wisdom", "--db", "x.db"}, "--db has no effect without --devices"},
      {{"compare", "--devices", "a,b", "a.wisdom", "--db", "x.db"}, "--db has no effect where a file is named"},
      {{"report", "-o", "-", "--force"}, "--force has no effect on standard output"},
      {{"convert", "a.wisdom", "--force"}, "--force has no effect on standard output"},
      {{"replay", "--list", "--plot", "x.svg"}, "--plot has no effect with --list"},
      {{"replay", "--list", "--strategy", "random"}, "--strategy has no effect with --list"},
      {{"replay", "--space", "a.csv", "--force"}, "--force has no effect without --plot"},
      {{"cache", "stats", "--kernel", "scale"}, "--kernel has no effect on `tune cache stats`"},
      {{"cache", "doctor", "--results"}, "--results has no effect on `tune cache doctor`"},
      {{"cache", "quarantine", "--configuration", "a=1"}, "--configuration has no effect on `tune cache quarantine`"},
      {{"cache", "clear", "--kernel", "scale"}, "--kernel says which results to remove"},
      {{"help", "run", "list"}, "help is of one command"},
  });
  EXPECT_EQ(tune({"--kernel", kernel, "--by", "block", "--rows", "3", "--dry-run"}).code, 0)
      << "a dry run takes the command as it is";
#ifdef TUNER_HAS_CUDA
  expect_refused({{{"occupancy", "--arch", "list", "--threads", "32"}, "--threads has no effect with --arch list"},
                  {{"occupancy", "--threads", "32", "--force"}, "--force has no effect without --plot"},
                  {{"occupancy", "--kernel", kernel, "--registers", "32"}, "--registers belongs to --threads"}});
#endif
}

TEST_F(Effect, OfADashAsAFileIsStandardOutputOrAnError) {
  const std::string kernel = small_kernel();
  expect_refused({{{"--kernel", kernel, "--device", "host", "--csv", "-"}, "--csv -: this goes to a file"},
                  {{"--kernel", kernel, "--device", "host", "--log", "-"}, "--log -: this goes to a file"},
                  {{"--kernel", kernel, "--device", "host", "--report", "-"}, "--report -: this goes to a file"},
                  {{"--kernel", kernel, "--device", "host", "--db", "-"}, "--db -: this goes to a file"},
                  {{"freeze", "-o", "-"}, "-o -: this goes to a file"},
                  {{"replay", "--space", "a.csv", "--plot", "-"}, "--plot -: this goes to a file"}});
}

TEST_F(Effect, OfAComparisonIsNeverNothing) {
  ASSERT_EQ(tune_small({"--trials", "1", "--quiet"}).code, 0);
  ASSERT_EQ(tune({"export", "a.wisdom"}).code, 0);
  const Finished typo = tune({"compare", "a.wisdom", "a.wisdom", "--kernel", "scal"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.err, HasSubstr("unknown kernel 'scal'; did you mean 'scale'?"));
  file("none.wisdom", "");
  const Finished empty = tune({"compare", "none.wisdom", "none.wisdom", "--json"});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("nothing was compared"));
}

TEST_F(Effect, OfAKernelOrDeviceThatNobodyKnowsIsAnError) {
  ASSERT_EQ(tune_small({"--trials", "1", "--quiet"}).code, 0);
  for (const char* command : {"show", "todo", "export"}) {
    std::vector<std::string> line{command, "--kernel", "scal"};
    if (std::string(command) == "export") line.push_back("x.wisdom");
    const Finished run = tune(line);
    EXPECT_EQ(run.code, 2) << command;
    EXPECT_THAT(run.err, HasSubstr("did you mean 'scale'?")) << command;
  }
  EXPECT_EQ(tune({"todo", "--clear", "--kernel", "scal"}).code, 2);
  for (const char* command : {"show", "export"}) {
    std::vector<std::string> line{command, "--device-key", "cuda"};
    if (std::string(command) == "export") line.push_back("x.wisdom");
    EXPECT_THAT(tune(line).err, HasSubstr("unknown device 'cuda'")) << command;
  }
  EXPECT_FALSE(std::filesystem::exists(folder() / "x.wisdom"));
  EXPECT_EQ(tune({"todo", "--kernel", "scale"}).code, 0);
}

TEST_F(Effect, OfHelpIsThatOfItsCommand) {
  EXPECT_EQ(tune({"help", "show"}).out, tune({"show", "--help"}).out);
  EXPECT_EQ(tune({"help", "tune"}).out, tune({"--help"}).out);
}

}  // namespace
}  // namespace tuner::cli
