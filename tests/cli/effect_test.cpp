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
using ::testing::StartsWith;

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
      {{"db", "export", "--as", "header", "x.hpp", "--kernel", kernel, "--all"}, "--all has no effect"},
      {{"db", "export", "--as", "t4", "x.json", "--all"}, "--all has no effect"},
      {{"db", "export", "x.wisdom", "--size", "n=1"}, "--size has no effect with `--as wisdom`"},
      {{"db", "export", "--as", "header", "x.hpp", "--kernel", kernel, "--choice", "T=int"},
       "--choice has no effect with `--as header`"},
      {{"db", "export", "x.wisdom", "--portfolio", "2"}, "--portfolio has no effect with `--as wisdom`"},
      {{"db", "export", "-", "--force"}, "--force has no effect on standard output"},
      {{"db", "export", "--as", "header", "-", "--kernel", kernel, "--force"},
       "--force has no effect on standard output"},
      {{"show", "--size", "n=1"}, "--size has no effect without --why"},
      {{"show", "--missed", "--all"}, "--all has no effect with --missed"},
      {{"devices", "--chip", "GH100"}, "--chip has no effect without --metrics"},
      {{"report", "-o", "-", "--force"}, "--force has no effect on standard output"},
      {{"convert", "a.wisdom", "--force"}, "--force has no effect on standard output"},
      {{"replay", "--list", "--plot", "x.svg"}, "--plot has no effect with --list"},
      {{"replay", "--list", "--strategy", "random"}, "--strategy has no effect with --list"},
      {{"replay", "a.csv", "--force"}, "--force has no effect without --plot"},
      {{"db", "--kernel", "scale"}, "--kernel has no effect with `tune db`"},
      {{"db", "check", "--all"}, "--all has no effect with `tune db check`"},
      {{"db", "check", "--config", "a=1"}, "--config has no effect with `tune db check`"},
      {{"db", "clear", "--kernel", "scale"}, "--kernel has no effect on compiled images"},
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
  expect_refused({{{"--kernel", kernel, "--device", "host", "--db", "-"}, "--db -: this goes to a file"},
                  {{"--kernel", kernel, "--csv", "-", "--json"}, "standard output takes only one of"},
                  {{"--kernel", kernel, "--csv", "-", "--log", "-"}, "standard output takes only one of"},
                  {{"replay", "a.csv", "--plot", "-", "--json"}, "--json has no effect with --plot -"},
                  {{"db", "freeze", "-"}, "freeze -: this goes to a file"}});
  EXPECT_THAT(tune_small({"--trials", "1", "--csv", "-"}).out, StartsWith("kernel,problem,"));
  EXPECT_THAT(tune_small({"--trials", "1", "--force", "--log", "-"}).out, StartsWith("{\"kernel\":\"scale\""));
  EXPECT_THAT(tune_small({"--trials", "1", "--report", "-"}).out, StartsWith("<!doctype html>"));
  file("a.csv", "block,eval_time_s,objective\n1,0.5,4\n2,0.5,3\n3,0.5,5\n4,0.5,2\n");
  EXPECT_THAT(tune({"replay", "a.csv", "--repeats", "2", "--plot", "-"}).out, StartsWith("<svg"));
  EXPECT_THAT(shell("\"$TUNE\" db export - | \"$TUNE\" db import --db copy.db -").out, HasSubstr("new: 1 best"));
}

TEST_F(Effect, OfAComparisonIsNeverNothing) {
  ASSERT_EQ(tune_small({"--trials", "1", "--quiet"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "a.wisdom"}).code, 0);
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
  for (const char* command :
       {"show", "show --missed", "report -o x.html", "db export x.wisdom", "db check", "db clear missed", "run", ""}) {
    const Finished kernel = shell("\"$TUNE\" " + std::string(command) + " --kernel scal");
    EXPECT_EQ(kernel.code, 2) << command;
    EXPECT_THAT(kernel.err, HasSubstr("unknown kernel 'scal'")) << command;
  }
  for (const char* command : {"show", "show --missed", "report -o x.html", "db export x.wisdom", "db clear missed"}) {
    const Finished device = shell("\"$TUNE\" " + std::string(command) + " --device elsewhere");
    EXPECT_EQ(device.code, 2) << command;
    EXPECT_THAT(device.err, HasSubstr("'elsewhere' is no device of these results")) << command;
  }
  EXPECT_FALSE(std::filesystem::exists(folder() / "x.wisdom"));
  EXPECT_EQ(tune({"show", "--missed", "--kernel", "scale"}).code, 0);
}

TEST_F(Effect, OfHelpIsThatOfItsCommand) {
  EXPECT_EQ(tune({"help", "show"}).out, tune({"show", "--help"}).out);
  EXPECT_EQ(tune({"help", "tune"}).out, tune({"--help"}).out);
}

}  // namespace
}  // namespace tuner::cli
