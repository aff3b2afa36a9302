// A list of problems: `tune --problems FILE`. tune_run_test.cpp has lists on several devices.
#include <csignal>

#include <tests/cli/program.hpp>
#include <tests/wait_until.hpp>

namespace tuner::cli {
namespace {

class ProblemsProgram : public ProgramTest {
 protected:
  ProblemsProgram() { compile_anew(); }

  /// Three problems on two lines.
  std::string list() {
    small_kernel();
    return file("night.txt",
                "# before tomorrow\n--kernel ./scale.cu --type float,int\n\n"
                "--kernel ./scale.cu --size n=77 --trials 2  # a short one\n");
  }
};

TEST_F(ProblemsProgram, TunesOneAfterTheOtherAndEndsWithALineForEach) {
  const Finished run = tune({"--problems", list(), "--trials", "1"});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* text :
       {"problem   1 of 3: scale T=float n=1000\n", "problem   3 of 3: scale T=float n=77\n", "problems  3 of 3 done"})
    EXPECT_THAT(run.err, HasSubstr(text));
  const std::string end = run.out.substr(run.out.rfind("  #  kernel"));
  EXPECT_THAT(end, Holds("1  scale   T=float n=1000", "2  scale   T=int n=1000", "block="));

  const json problems = document("--problems night.txt --json")["problems"];
  ASSERT_EQ(problems.size(), 3u);
  for (const json& one : problems) EXPECT_TRUE(one["results"][0]["from_cache"]);
}

TEST_F(ProblemsProgram, ReadsStandardInputAndLimitsOfALine) {
  file("night.txt", "--kernel ./scale.cu\n--kernel ./scale.cu --size n=77 --trials 2\n");
  const Finished run = shell("\"$TUNE\" --problems - --json --quiet --trials 1 < night.txt");
  ASSERT_EQ(run.code, 0) << run.err;
  const json problems = json::parse(run.out)["problems"];
  EXPECT_EQ(problems[0]["results"][0]["trials"].size(), 1u);
  EXPECT_EQ(problems[1]["results"][0]["trials"].size(), 2u);
}

TEST_F(ProblemsProgram, TunesNothingWhenALineIsWrong) {
  const Finished run = tune({"--problems", file("bad.txt", "--kernel ./scale.cu\n--kernel ./scale.cu --type flaot\n")});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("bad.txt:2: unknown type for T 'flaot'; did you mean 'float'?"));
  EXPECT_THAT(run.err, Not(HasSubstr("problem   ")));
  EXPECT_EQ(tune({"--problems", list(), "--size", "n=4"}).code, 2);
  EXPECT_THAT(call("--problems missing.txt").err, HasSubstr("list of problems 'missing.txt': there is no such file"));
  EXPECT_THAT(call("--problems .").err, HasSubstr("it is a folder"));
}

TEST_F(ProblemsProgram, ContinuesAnInterruptedList) {
  const std::string path = list();
  Started run = start({"--problems", path, "--trials", "2"});
  testing::wait_until([&] { return !run.running() || run.err().find("problem   2 of 3") != std::string::npos; });
  run.signal_group(SIGINT);
  const Finished interrupted = run.finish();
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr("continues from here"));
  const json problems = document("--problems night.txt --trials 2 --json")["problems"];
  EXPECT_TRUE(problems[0]["results"][0]["from_cache"]);
  EXPECT_FALSE(problems[2]["results"][0]["from_cache"]);
}

}  // namespace
}  // namespace tuner::cli
