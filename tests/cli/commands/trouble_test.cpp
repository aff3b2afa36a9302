// What goes wrong: each with a message that says what, where and what to do, and nothing lost.

#include <unistd.h>

#include <filesystem>

#include <tests/cli/commands/program.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

class Trouble : public ProgramTest {
 protected:
  Trouble() { compile_anew(); }
};

TEST_F(Trouble, AKernelOrDeviceThatIsNotThereIsNamedWithItsPlace) {
  file("bad.cu", "// line 1\n#pragma tuner kernel bad\n#pragma tuner parametre x = 1 2\n");
  expect_failures(1, "nowhere.cu", {"./nowhere.cu"});
  expect_failures(1, "bad.cu:3:", {"bad.cu"});
  expect_failures(1, "did you mean 'parameter'", {"bad.cu"});
  expect_failures(1, "--device", {"scale.cu --device 99"});
}

TEST_F(Trouble, WithoutACompilerThatWorksTheHostSaysWhatToInstallOrWhatTheCompilerSaid) {
#ifdef TUNER_SANITIZED
  GTEST_SKIP() << "a sanitizer build compiles kernels with its own compiler";
#endif
  const std::string compiler = file("broken",
                                    "#!/bin/sh\n[ \"$1\" = --version ] && echo 'g++ 1.2.3' && exit 0\n"
                                    "echo 'out of order' >&2\nexit 1\n");
  fs::permissions(compiler, fs::perms::owner_all);
  set("CXX", compiler);
  EXPECT_THAT(err_of("scale.cu", 1), Holds("g++ 1.2.3", "out of order"));
  set("PATH", "/nonexistent");
  set("CXX", "");
  EXPECT_THAT(err_of("scale.cu", 1), Holds("needs a C++ compiler", "CXX"));
}

TEST_F(Trouble, ACompilerThatCannotBeUsedIsReportedOnce) {
#ifdef TUNER_SANITIZED
  GTEST_SKIP() << "a sanitizer build compiles kernels with its own compiler";
#endif
  set("CXX", "/no/such/c++");
  const std::string err = err_of("scale.cu --trials 1");
  const auto first = err.find("CXX=/no/such/c++ is not used");
  ASSERT_NE(first, std::string::npos) << err;
  EXPECT_EQ(err.find("is not used", first + 30), std::string::npos) << err;
}

TEST_F(Trouble, AFailedCompileIsShownWholeWithVerbose) {
  std::string text = contents(small_kernel());
  text.insert(text.find('{', text.find("void scale(")) + 1, " static_assert(block != 64, \"not 64\");");
  file("picky.cu", text);
  EXPECT_THAT(err_of("picky.cu --trials 9 --verbose"),
              ContainsRegex("block=64 unroll=1  compile: .*\n    .*static assertion failed: not 64"));
}

TEST_F(Trouble, AnUnwritableCacheCostsOneWarningAndTuningGoesOn) {
  file("blocker", "a file where the folder should be");
  set("TUNER_CACHE_DIR", (folder() / "blocker" / "cache").string());
  const Finished run = call("scale.cu --trials 3");
  EXPECT_EQ(run.code, 1) << "the result is not stored";
  const std::string warning = "warning: wisdom database ";
  const auto first = run.err.find(warning);
  ASSERT_NE(first, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(warning, first + 1), std::string::npos) << run.err;
  EXPECT_THAT(run.err,
              Holds("cannot be created", "or TUNER_CACHE_DIR names another folder", "the result is not stored"));
  EXPECT_THAT(run.err, Not(AnyOf(HasSubstr("printed while"), HasSubstr("objects cannot be stored"))));
  EXPECT_THAT(run.out, HasSubstr("best  block="));
}

TEST_F(Trouble, ACorruptDatabaseIsSetAsideAndTuningGoesOn) {
  fs::create_directory(cache());
  fs::permissions(cache(), fs::perms::owner_all);
  file("cache/wisdom.db", "this is no database at all, but long enough to look like something");
  expect_failures(0, "warning:", {"scale.cu --trials 3"});
  EXPECT_THAT(call("scale.cu --trials 3").out, HasSubstr("answered from"));
}

TEST_F(Trouble, AFullDiskCostsAWarningAndTheResultIsStillPrinted) {
  ASSERT_EQ(call("scale.cu --size n=700").code, 0);  // what must not be lost; all objects are compiled
  // RLIMIT_FSIZE, in blocks of 512 bytes, stands for a full disk: no file, the database least of all, can grow.
  const Finished run = shell(
      "trap '' XFSZ; ulimit -f $(($(stat -c %s cache/wisdom.db) / 512)); exec \"$TUNE\" scale.cu "
      "--measure-for 50ms --size 'n=701;n=702;n=703;n=704;n=705;n=706;n=707;n=708'");
  EXPECT_EQ(run.code, 1) << "what was found last is not stored";
  EXPECT_THAT(run.err, HasSubstr("warning:"));
  EXPECT_THAT(run.out, HasSubstr("n=708\nbest  block="));
  EXPECT_THAT(call("scale.cu --size n=700").out, HasSubstr("answered from"));
  EXPECT_EQ(call("db check").code, 0);
}

TEST_F(Trouble, ALimitOnTheSizeOfFilesIsToldAndKillsNothing) {
  const Finished run = shell("ulimit -f 1; exec \"$TUNE\" scale.cu --size n=1000 --trials 2");
  EXPECT_LT(run.code, 128) << run.err;
  EXPECT_NE(run.err, "");
}

TEST_F(Trouble, WhatAKernelPrintsIsShownOnce) {
  std::string text = contents(small_kernel());
  text.insert(text.find("  for (int k"), "  if (blockIdx.x == 0 && threadIdx.x == 0) printf(\"n is %d\\n\", n);\n");
  file("prints.cu", text);
  EXPECT_THAT(err_of("prints.cu --trials 3"),
              Holds("printed while the kernel ran; the first lines are shown once", "n is 33\n"));
}

TEST_F(Trouble, AWarningOfAWorkerIsNotCalledTheKernels) {
  fs::create_directory(cache());
  fs::permissions(cache(), fs::perms::all);
  const Finished run = call("scale.cu --trials 3");
  EXPECT_THAT(run.err, HasSubstr("warning: compiled objects cannot be stored in " + cache().string() +
                                 ": others can write to "));
  EXPECT_THAT(run.err, Not(HasSubstr("printed while the kernel ran")));
}

TEST_F(Trouble, ACheckSkipsAGridThatTheseCoresCannotHoldAtOnce) {
  file("meeting.cu",
       "#pragma tuner kernel meet\n#pragma tuner size n = 2112\n#pragma tuner parameter block = 32 64\n"
       "#pragma tuner inout x[n] : int\n#pragma tuner grid n\n#pragma tuner block block\n#pragma tuner cooperative\n"
       "#pragma tuner arguments x\n#pragma tuner reference plain\n#pragma tuner grid n\n#pragma tuner block 1\n"
       "#include <cooperative_groups.h>\n"
       "__global__ void meet(int* x) {\n  cooperative_groups::this_grid().sync();\n"
       "  if (threadIdx.x == 0) x[blockIdx.x] += 1;\n}\n"
       "__global__ void plain(int* x) { x[blockIdx.x] += 1; }\n");
  EXPECT_THAT(out_of("check meeting.cu"),
              Holds("host    skipped: a cooperative grid of 2112 blocks", "this machine has too few cores"));
}

TEST_F(Trouble, ACheckWarnsOfADependentLaunchThatNeverWaits) {
  std::string text = contents(small_kernel());
  text.insert(text.find("#pragma tuner arguments"), "#pragma tuner dependent block == 64\n");
  file("early.cu", text);
  constexpr const char* kWarning = "warning: a launch is `dependent`, and no text of the kernel calls";
  EXPECT_THAT(out_of("check early.cu"), HasSubstr(kWarning));
  text.insert(text.find('{', text.find("void scale(")) + 1, " cudaGridDependencySynchronize();");
  file("waits.cu", text);
  EXPECT_THAT(out_of("check waits.cu"), Not(HasSubstr(kWarning)));
}

TEST_F(Trouble, ACheckComparesTheArgumentsOfAKernelThatTheHostSkips) {
  if (!has_nvrtc()) GTEST_SKIP() << "no libnvrtc on this machine";
  const auto with = [&](const std::string& head, const std::string& arguments) {
    file("ptx.cu",
         "#pragma tuner kernel k\n#pragma tuner size n = 1000\n#pragma tuner parameter block = 32 64\n"
         "#pragma tuner out x[n] : int\n#pragma tuner grid n\n#pragma tuner block block\n"
         "#pragma tuner arguments " +
             arguments +
             "\n#pragma tuner reference k\n"
             "__global__ void k(" +
             head +
             ") {\n"
             "  asm volatile(\"fence.proxy.async;\");\n  x[blockIdx.x] = 1;\n}\n");
    return call("check ptx.cu --arch sm_90").out;
  };
  EXPECT_THAT(with("int* x, int n", "x, n"), Holds("host    skipped: ", "sm_90   compiles"));
  EXPECT_THAT(with("int* x, int n", "x"), Holds("sm_90   failed: ", "ptx.cu:7:", "takes 2 arguments, not 1"));
  EXPECT_THAT(with("int* x, float n", "x, n"), Holds("sm_90   failed: ptx.cu:7:28: ", "parameter 2 of k is float"));
}

TEST_F(Trouble, AProblemWithoutRoomIsRefusedWithWhatThereIs) {
  std::string text = contents(small_kernel());
  text.replace(text.find("x[n]\n"), 5, "x[n * 1000000000000]\n");
  file("huge.cu", text);
  const Finished run = call("huge.cu --trials 1");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, Holds("no room for ", "are free"));
  EXPECT_THAT(run.err, Not(HasSubstr("cannot be opened")));
}

TEST_F(Trouble, OutputThatCannotBeWrittenIsAFailure) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const Finished run = shell("\"$TUNE\" list > /dev/full");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("could not be written"));
}

TEST_F(Trouble, AFolderInWhichNothingCanBeWrittenIsNamedBeforeAnyWork) {
  file("a.csv", "block,eval_time_s,objective\n1,0.5,4\n2,0.5,3\n");
  file("file", "");
  expect_failures(1, "--plot none/x.svg: no file can be written in the folder none: No such file or directory",
                  {"replay a.csv --plot none/x.svg"});
  expect_failures(1, "--csv file/x.csv: no file can be written in the folder file: Not a directory",
                  {"scale.cu --csv file/x.csv"});
  EXPECT_FALSE(fs::exists(cache() / "wisdom.db")) << "nothing was tuned";
  if (::geteuid() == 0) return;  // root may write anywhere
  fs::create_directory(folder() / "shut");
  fs::permissions(folder() / "shut", fs::perms::owner_read | fs::perms::owner_exec);
  expect_failures(1, "in the folder shut: Permission denied", {"report -o shut/x.html"});
}

TEST_F(Trouble, ClosedStreamsAreAFailureAndNoFileTakesTheirPlace) {
  const Finished run = shell("\"$TUNE\" list >&-");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("could not be written"));
  EXPECT_EQ(shell("\"$TUNE\" --trials 2 --log trials.jsonl --kernel scale.cu 2>&- <&-").code, 0);
  const std::string log = contents(folder() / "trials.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
}

TEST_F(Trouble, AReaderThatLeavesEndsACommand) {
  EXPECT_EQ(shell("{ \"$TUNE\" list --json; echo $? > code; } | head -c 1").code, 0);
  EXPECT_THAT(contents(folder() / "code"), AnyOf("0\n", "1\n", "141\n"));
}

TEST_F(Trouble, AKernelFileIsARegularFileOfAReasonableSize) {
  ASSERT_EQ(shell("mkfifo pipe.cu; head -c 1048577 /dev/zero > large.cu").code, 0);
  EXPECT_THAT(call("./pipe.cu").err, HasSubstr("pipe.cu': it is not a regular file"));
  EXPECT_THAT(call("/dev/zero").err, HasSubstr("it is not a regular file"));
  EXPECT_THAT(call("./large.cu").err, HasSubstr("larger than 1048576 bytes"));
  set("TUNER_TEMPLATE_PATH", folder().string());
  EXPECT_EQ(call("list").code, 0) << "the others are still listed";
}

TEST_F(Trouble, TextInFilesNeverReachesTheTerminalRaw) {
  const Finished run = call("x\x1b[2J.cu");
  EXPECT_THAT(run.err, HasSubstr("x\\x1b[2J.cu"));
  EXPECT_THAT(run.err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace tuner::cli
