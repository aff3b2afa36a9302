// What goes wrong: each with a message that says what, where and what to do, and nothing lost.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class Trouble : public ProgramTest {};

TEST_F(Trouble, AnUnknownKernelNameSuggestsTheNearestAndListsAll) {
  const Finished run = tune({"--kernel", "reduse"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("did you mean 'reduce'?"));
  EXPECT_THAT(run.err, HasSubstr("sumMatrix2D"));
}

TEST_F(Trouble, AMissingFileIsNamed) {
  const Finished run = tune({"--kernel", "./nowhere.cu"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("nowhere.cu"));
}

TEST_F(Trouble, AMalformedFileIsReportedWithItsPlace) {
  const std::string path = file("bad.cu", "// line 1\n#pragma tuner kernel bad\n#pragma tuner parametre x = 1 2\n");
  const Finished run = tune({"--kernel", path});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("bad.cu:3:"));
  EXPECT_THAT(run.err, HasSubstr("parameter"));
}

TEST_F(Trouble, UsageErrorsExitWithTwo) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--kernal", "reduce"},
                                             {"--kernel", "reduce", "--budget", "soon"},
                                             {"--kernel", "reduce", "--size", "m=3"},
                                             {"--kernel", "reduce", "--type", "quaternion"},
                                             {"shwo"},
                                             {"list", "--jsn"},
                                             {"db", "merge", "one.db"},
                                             {"db", "export"},
                                             {"db", "melt"},
                                             {"show", "--why"},
                                             {"occupancy"}}) {
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 2) << arguments[0] << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr("tune: "));
  }
  EXPECT_THAT(tune({"shwo"}).err, HasSubstr("did you mean 'show'?"));
  EXPECT_THAT(tune({"list", "--jsn"}).err, HasSubstr("did you mean '--json'?"));
}

TEST_F(Trouble, AMissingDeviceIsAClearError) {
  const Finished run = tune({"--kernel", small_kernel(), "--device", "99"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("--device"));
}

TEST_F(Trouble, WithoutACompilerTheHostSaysWhatToInstall) {
#ifdef TUNER_SANITIZED
  GTEST_SKIP() << "a sanitizer build compiles kernels with its own compiler";
#endif
  set("PATH", "/nonexistent");
  set("CXX", "");
  const Finished run = tune({"--kernel", small_kernel(), "--device", "host"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("needs a C++ compiler"));
  EXPECT_THAT(run.err, HasSubstr("CXX"));
}

TEST_F(Trouble, ACompilerThatFailsIsReportedWithItsWords) {
#ifdef TUNER_SANITIZED
  GTEST_SKIP() << "a sanitizer build compiles kernels with its own compiler";
#endif
  const std::string compiler = file("broken",
                                    "#!/bin/sh\n[ \"$1\" = --version ] && echo 'g++ 1.2.3' && exit 0\n"
                                    "echo 'out of order' >&2\nexit 1\n");
  fs::permissions(compiler, fs::perms::owner_all);
  set("CXX", compiler);
  const Finished run = tune({"--kernel", small_kernel(), "--device", "host"});
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("g++ 1.2.3"));
  EXPECT_THAT(run.err, HasSubstr("out of order"));
}

TEST_F(Trouble, AnUnwritableCacheCostsOneWarningAndTuningGoesOn) {
  file("blocker", "a file where the folder should be");
  set("TUNER_CACHE_DIR", (folder() / "blocker" / "cache").string());
  const Finished run = tune({"--kernel", small_kernel(), "--trials", "3"});
  EXPECT_EQ(run.code, 1) << "the result is not stored";
  const auto first = run.err.find("warning:");
  ASSERT_NE(first, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("warning:", first + 1), std::string::npos) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the result is not stored"));
  EXPECT_THAT(run.out, HasSubstr("best  block="));
}

TEST_F(Trouble, ACorruptDatabaseIsSetAsideAndTuningGoesOn) {
  fs::create_directory(cache());
  fs::permissions(cache(), fs::perms::owner_all);
  file("cache/wisdom.db", "this is no database at all, but long enough to look like something");
  const Finished run = tune({"--kernel", small_kernel(), "--trials", "3"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning:"));
  EXPECT_THAT(tune({"--kernel", small_kernel()}).out, HasSubstr("answered from"));
}

TEST_F(Trouble, SomebodysFileIsReadByNoCommandAsADatabaseAndChangedByNone) {
  const std::string notes = "my notes, long enough to be looked at by a library for databases";
  file("notes.txt", notes);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"show"},
                                                  {"db", "export", "-"},
                                                  {"db", "check"},
                                                  {"db"},
                                                  {"db", "clear", "quarantine"},
                                                  {"db", "clear", "results"},
                                                  {"show", "reduce", "--why", "--size", "n=5"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--db", "notes.txt"});
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 1) << command[0];
    EXPECT_THAT(run.err, HasSubstr("it is no wisdom database")) << command[0];
    std::ifstream in(folder() / "notes.txt");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), notes) << command[0];
  }
  EXPECT_EQ(tune({"db", "merge", "notes.txt", "notes.txt"}).code, 1);
}

TEST_F(Trouble, WhatCannotBeStoredIsAFailure) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--trials", "3"}).code, 0);
  fs::create_directory(folder() / "folder.db");
  EXPECT_EQ(tune({"db", "merge", "folder.db", (cache() / "wisdom.db").string()}).code, 1);
  ASSERT_EQ(tune({"db", "export", "--all", "all.wisdom"}).code, 0);
  const Finished run = shell("trap '' XFSZ; ulimit -f 8; exec \"$TUNE\" db import --db small.db all.wisdom");
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_THAT(run.out, ::testing::Not(HasSubstr("new:")));
}

TEST_F(Trouble, AFullDiskCostsAWarningAndTheResultIsStillPrinted) {
  const std::string kernel = small_kernel();
  ASSERT_EQ(tune({"--kernel", kernel, "--size", "n=700"}).code, 0);  // what must not be lost; all objects are compiled
  // RLIMIT_FSIZE, in blocks of 512 bytes, stands for a full disk: no file, the database least of all, can grow.
  const Finished run =
      shell("trap '' XFSZ; ulimit -f $(($(stat -c %s cache/wisdom.db) / 512)); exec \"$TUNE\" --kernel " + kernel +
            " --measure-for 50ms --size 'n=701;n=702;n=703;n=704;n=705;n=706;n=707;n=708'");
  EXPECT_EQ(run.code, 1) << "what was found last is not stored";
  EXPECT_THAT(run.err, HasSubstr("warning:"));
  EXPECT_THAT(run.out, HasSubstr("n=708\nbest  block="));
  EXPECT_THAT(tune({"--kernel", kernel, "--size", "n=700"}).out, HasSubstr("answered from"));
  EXPECT_EQ(tune({"db", "check"}).code, 0);
}

TEST_F(Trouble, ALimitOnTheSizeOfFilesIsToldAndKillsNothing) {
  const std::string kernel = small_kernel();
  const Finished run =
      shell("ulimit -f 1; exec \"$TUNE\" --kernel " + kernel + " --size n=1000 --device host --trials 2");
  EXPECT_LT(run.code, 128) << run.err;
  EXPECT_NE(run.err, "");
}

TEST_F(Trouble, WhatAKernelPrintsIsShownOnce) {
  std::string text = contents(small_kernel());
  text.insert(text.find("  for (int k"), "  if (blockIdx.x == 0 && threadIdx.x == 0) printf(\"n is %d\\n\", n);\n");
  const Finished run =
      tune({"--kernel", file("prints.cu", text), "--size", "n=1000", "--device", "host", "--trials", "3"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the kernel prints; its first lines are shown once"));
  EXPECT_THAT(run.err, HasSubstr("n is 33\n"));
}

TEST_F(Trouble, AProblemWithoutRoomIsRefusedWithWhatThereIs) {
  std::string text = contents(small_kernel());
  text.replace(text.find("x[n]\n"), 5, "x[n * 1000000000000]\n");
  const Finished run =
      tune({"--kernel", file("huge.cu", text), "--size", "n=1000", "--device", "host", "--trials", "1"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("no room for "));
  EXPECT_THAT(run.err, HasSubstr("are free"));
  EXPECT_THAT(run.err, ::testing::Not(HasSubstr("cannot be opened")));
}

TEST_F(Trouble, OutputThatCannotBeWrittenIsAFailure) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const Finished run = shell("\"$TUNE\" list > /dev/full");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("could not be written"));
}

TEST_F(Trouble, ClosedStreamsAreAFailureAndNoFileTakesTheirPlace) {
  const Finished run = shell("\"$TUNE\" list >&-");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("could not be written"));
  EXPECT_EQ(shell("\"$TUNE\" --trials 2 --log trials.jsonl --kernel " + small_kernel() + " 2>&- <&-").code, 0);
  const std::string log = contents(folder() / "trials.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
}

TEST_F(Trouble, AReaderThatLeavesEndsACommand) {
  EXPECT_EQ(shell("{ \"$TUNE\" list --json; echo $? > code; } | head -c 1").code, 0);
  EXPECT_THAT(contents(folder() / "code"), ::testing::AnyOf("0\n", "1\n", "141\n"));
}

TEST_F(Trouble, AKernelFileIsARegularFileOfAReasonableSize) {
  ASSERT_EQ(shell("mkfifo pipe.cu; head -c 1048577 /dev/zero > large.cu").code, 0);
  EXPECT_THAT(tune({"--kernel", "./pipe.cu"}).err, HasSubstr("pipe.cu': it is no regular file"));
  EXPECT_THAT(tune({"--kernel", "/dev/zero"}).err, HasSubstr("it is no regular file"));
  EXPECT_THAT(tune({"--kernel", "./large.cu"}).err, HasSubstr("larger than 1048576 bytes"));
  set("TUNER_TEMPLATE_PATH", folder().string());
  EXPECT_EQ(tune({"list"}).code, 0) << "the others are still listed";
}

TEST_F(Trouble, AKernelWithoutAReferenceIsRefusedBeforeAnythingRuns) {
  std::string text = contents(small_kernel());
  text.erase(text.find("#pragma tuner reference"),
             text.find("#pragma tuner verify") - text.find("#pragma tuner reference"));
  text.erase(text.find("#pragma tuner verify"), text.find("#pragma tuner bytes") - text.find("#pragma tuner verify"));
  const Finished run = tune({"--kernel", file("bare.cu", text)});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("has no reference"));
}

TEST_F(Trouble, TextInFilesNeverReachesTheTerminalRaw) {
  const Finished run = tune({"--kernel", "x\x1b[2J.cu"});
  EXPECT_THAT(run.err, HasSubstr("x\\x1b[2J.cu"));
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
}

TEST_F(Trouble, AKernelThatComputesTheWrongThingNeverWins) {
  std::string text = R"(
#pragma tuner kernel      wrong
#pragma tuner size        n = 256
#pragma tuner parameter   off = 1 2
#pragma tuner in          x[n] : int
#pragma tuner out         y[n] : int
#pragma tuner block       32
#pragma tuner grid        max(1, ceil_div(n, 32))
#pragma tuner arguments   x, y, n
#pragma tuner instantiate wrong<off>
#pragma tuner reference   right
#pragma tuner grid        max(1, ceil_div(n, 32))
#pragma tuner block       32
#pragma tuner arguments   x, y, n
#pragma tuner default     off=1
template <int off> __global__ void wrong(const int* x, int* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = x[i] + off;
}
__global__ void right(const int* x, int* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
)";
  const Finished run = tune({"--kernel", file("wrong.cu", text)});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("2 wrong"));
  EXPECT_THAT(run.err, HasSubstr("none of 2 configurations worked"));
}

}  // namespace
}  // namespace tuner::cli
