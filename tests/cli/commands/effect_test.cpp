// Command lines that are not understood, and options that have no effect: an error of every command, status 2.

#include <tests/cli/commands/program.hpp>

namespace tuner::cli {
namespace {

class Effect : public ProgramTest {
 protected:
  /// Each is refused for its reason, and leaves no file.
  void expect_refused(const std::vector<std::pair<const char*, const char*>>& table) {
    for (const auto& [line, why] : table) expect_failures(2, why, {line});
    EXPECT_FALSE(std::filesystem::exists(folder() / "-"));
  }
};

TEST_F(Effect, OfEveryOptionOrItIsAnError) {
  file("a.wisdom", "");
  expect_refused({
      {"scale.cu --json --rows 3", "--rows has no effect with --json"},
      {"scale.cu --quiet --rows 3", "--rows has no effect with --quiet"},
      {"scale.cu --quiet --verbose", "--verbose has no effect with --quiet"},
      {"scale.cu --csv - --rows 3", "--rows has no effect with --csv -"},
      {"scale.cu --log - --by block", "--by has no effect with --log -"},
      {"scale.cu --metrics-for all", "--metrics-for has no effect without --metrics"},
      {"scale.cu --effort none --force", "--force has no effect with --effort none, which measures nothing"},
      {"run scale.cu --arch sm_90", "--arch has no effect without --ptx or --sass"},
      {"run scale.cu --ptx --arch sm_90 --json", "--json has no effect with --ptx"},
      {"run scale.cu --ptx --arch sm_90 --once", "--once has no effect with --ptx"},
      {"run scale.cu --ptx --arch sm_90 --cpu", "--cpu has no effect with --ptx"},
      {"run scale.cu --ptx --arch sm_90 --as graph", "--as has no effect with --ptx"},
      {"run scale.cu --sass --metrics ipc", "--metrics has no effect with --ptx"},
      {"run scale.cu --ptx --arch sm_90 --device 0", "--device has no effect with --arch"},
      {"db export --as header x.hpp --kernel scale.cu --all", "--all has no effect"},
      {"db export --as t4 x.json --all", "--all has no effect"},
      {"db export x.wisdom --size n=1", "--size has no effect with `--as wisdom`"},
      {"db export --as header x.hpp --kernel scale.cu --choice T=int", "--choice has no effect with `--as header`"},
      {"db export --arch sm_90 -", "--arch has no effect with `--as wisdom`"},
      {"db export - --force", "--force has no effect on standard output"},
      {"db export --as header - --kernel scale.cu --force", "--force has no effect on standard output"},
      {"show --size n=1", "--size has no effect without --why"},
      {"show --as graph", "--as has no effect without --why"},
      {"show --missed --all", "--all has no effect with --missed"},
      {"devices --chip GH100", "--chip has no effect without --metrics"},
      {"report -o - --force", "--force has no effect on standard output"},
      {"replay --list --plot x.svg", "--plot has no effect with --list"},
      {"replay --list --strategy random", "--strategy has no effect with --list"},
      {"replay a.csv --force", "--force has no effect without --plot"},
      {"replay a.csv --pairs --prior a.csv", "--prior has no effect with --pairs"},
      {"replay a.csv --pairs --plot x.svg", "--plot has no effect with --pairs"},
      {"db --kernel scale", "--kernel has no effect with `tune db`"},
      {"db check --all", "--all has no effect with `tune db check`"},
      {"db check --config a=1", "--config has no effect with `tune db check`"},
      {"db clear --kernel scale", "--kernel has no effect on compiled images"},
      {"db clear --db cache/wisdom.db", "--db has no effect on compiled images"},
      {"db clear results --config a=1", "--config has no effect without quarantine alone"},
      {"help run list", "help is of one command"},
      {"help --as text", "give man, bash or zsh"},
  });
  EXPECT_EQ(call("scale.cu --by block --rows 3 --dry-run").code, 0) << "a dry run takes the command as it is";
#ifdef TUNER_HAS_CUDA
  expect_refused({{"occupancy --arch list --threads 32", "--threads has no effect with --arch list"},
                  {"occupancy --threads 32 --force", "--force has no effect without --plot"},
                  {"occupancy --kernel scale.cu --registers 32", "--registers belongs to --threads"},
                  {"occupancy --threads 8 --kernel reduce", "give it without --kernel"},
                  {"occupancy --threads 2000", "a block has 1 to 1024 threads"},
                  {"occupancy --threads 256 --registers 256", "a thread has 1 to 255 registers"},
                  {"db export --as images -", "export --as images -: this goes to a file"}});
#endif
}

TEST_F(Effect, OfWordsThatNobodyUnderstandsIsAnErrorThatHelps) {
  file("two.csv", "block,eval_time_s,objective\n1,0.5,4\n");
  expect_refused({
      {"--kernal reduce", "did you mean '--kernel'?"},
      {"list --jsn", "did you mean '--json'?"},
      {"list --flie x", "unknown option '--flie'\n"},
      {"shwo", "did you mean 'show'?"},
      {"redcue", "did you mean 'reduce'?"},
      {"nobodysKernel", "Give your own file by its path: ./nobodysKernel.cu\n"},
      {".", "'.' is a folder: give the path of a file in it\n"},
      {"help lsit", "unknown command 'lsit'; did you mean 'list'?"},
      {"run --kernel scal", "unknown kernel 'scal'"},
      {"scale.cu --kernel scale.cu", "tune: "},
      {"reduce --effort quik", "did you mean 'quick'?"},
      {"reduce --effort quick --budget 5s", "--effort and --budget do not go together"},
      {"reduce --budget soon", "--budget: 'soon' is not a time with a unit"},
      {"replay two.csv --budget 200", "--budget: '200' is not a time with a unit"},
      {"replay two.csv -r 99999999999", "--repeats: 99999999999 is not between 1 and 10000"},
      {"replay two.csv --ahead 0", "--ahead: 0 is not between 1 and 10000"},
      {"replay two.csv --target 3", "--target: '3' is not a time with a unit"},
      {"replay", "replay needs recorded spaces"},
      {"replay - --prior -", "standard input (-) can be read only once"},
      {"compare - -", "standard input (-) can be read only once"},
      {"db import - -", "standard input (-) can be read only once"},
      {"reduce --type quaternion", "unknown type"},
      {"run sumMatrix2D --size nx=64 --size ny=32",
       "run looks at one problem, and these are 2: give one --size nx=…,ny=…"},
      {"db merge one.db", "merge needs a result"},
      {"db export", "export writes one file"},
      {"db export --as haeder a.hpp --kernel scale.cu", "did you mean 'header'?"},
      {"db export --as header a.hpp", "a header holds one kernel"},
      {"db export --as header a.hpp --kernel scale.cu b.wisdom", "export writes one file"},
      {"db export --as header a.hpp --kernel nothing", "unknown kernel 'nothing'"},
      {"db freeze", "freeze needs a name"},
      {"db melt", "unknown action of tune db 'melt'"},
      {"report", "report writes one file"},
      {"show --why", "which kernel?"},
      {"run scale.cu --config blok=32", "did you mean 'block'"},
      {"run scale.cu --metrics ipc --once", "--metrics launches the kernel many times, and --once only once"},
  });
}

TEST_F(Effect, OfADashAsAFileIsAStandardStreamOrAnError) {
  expect_refused({{"scale.cu --db -", "--db -: this goes to a file"},
                  {"scale.cu --csv - --json", "standard output takes only one of"},
                  {"scale.cu --csv - --log -", "standard output takes only one of"},
                  {"replay a.csv --plot - --json", "--json has no effect with --plot -"},
                  {"db freeze -", "freeze -: this goes to a file"}});
  EXPECT_THAT(call("scale.cu --trials 1 --csv -").out, StartsWith("kernel,problem,"));
  EXPECT_THAT(call("scale.cu --trials 1 --force --log -").out, StartsWith("{\"kernel\":\"scale\""));
  EXPECT_THAT(call("scale.cu --trials 1 --report -").out, StartsWith("<!doctype html>"));
  file("a.csv", "block,eval_time_s,objective\n1,0.5,4\n2,0.5,3\n3,0.5,5\n4,0.5,2\n");
  EXPECT_THAT(call("replay a.csv --repeats 2 --plot -").out, StartsWith("<svg"));
  EXPECT_THAT(shell("\"$TUNE\" replay - --repeats 2 --target 3ms < a.csv").out, StartsWith("standard input: 4 config"));
  EXPECT_THAT(shell("\"$TUNE\" replay a.csv --repeats 2 --prior - < a.csv").out, StartsWith("a: 4 configurations"));
  EXPECT_THAT(shell("\"$TUNE\" db export - | \"$TUNE\" db import --db copy.db -").out, HasSubstr("new: 1 best"));
}

TEST_F(Effect, OfAComparisonIsNeverNothing) {
  ASSERT_EQ(call("scale.cu --trials 1 --quiet").code, 0);
  ASSERT_EQ(call("db export a.wisdom").code, 0);
  file("none.wisdom", "");
  expect_failures(2, "unknown kernel 'scal'; did you mean 'scale'?", {"compare a.wisdom a.wisdom --kernel scal"});
  expect_failures(1, "nothing was compared", {"compare none.wisdom none.wisdom --json"});
}

TEST_F(Effect, OfAKernelOrDeviceThatNobodyKnowsIsAnError) {
  ASSERT_EQ(call("scale.cu --trials 1 --quiet").code, 0);
  const std::vector<std::string> commands{"show",     "show --missed",   "report -o x.html",   "db export x.wisdom",
                                          "db check", "db clear missed", "db clear quarantine"};
  for (const std::string& command : commands) {
    expect_failures(2, "unknown kernel 'scal'; did you mean 'scale'?", {command + " --kernel scal"});
    expect_failures(2, "no results for device 'elsewhere'", {command + " --device elsewhere"});
  }
  file("none.wisdom", "");
  ASSERT_EQ(call("db import --db empty.db none.wisdom").code, 0);
  expect_failures(2, "no results for device 'host'; available: none",
                  {"show --device host --db empty.db", "db export x.wisdom --device host --db empty.db"});
  EXPECT_FALSE(std::filesystem::exists(folder() / "x.wisdom"));
  EXPECT_EQ(call("show --missed --kernel scale").code, 0);
}

}  // namespace
}  // namespace tuner::cli
