// `tune run`: one configuration by itself, on the host backend.

#include <sstream>

#include <tests/cli/commands/program.hpp>

namespace tuner::cli {
namespace {

class Run : public ProgramTest {
 protected:
  Finished run(const std::string& more) { return call("run scale.cu " + more); }

  /// A kernel file of \p name whose reference gives y[i] = i for four integers; \p kernel: its text.
  void four_integers(const std::string& name, const std::string& kernel) {
    file(name + ".cu", "#pragma tuner kernel      " + name + R"(
#pragma tuner parameter   threads = 2 4
#pragma tuner out         y[4] : int
#pragma tuner grid        1
#pragma tuner block       threads
#pragma tuner arguments   y
#pragma tuner instantiate )" +
                           name + R"(<threads>
#pragma tuner reference   inOrder
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   y
#pragma tuner default     threads=4
__global__ void inOrder(int* y) { for (int i = 0; i < 4; ++i) y[i] = i; }
)" + kernel);
  }
};

TEST_F(Run, TellsLaunchTimeAndResultOfTheServedConfiguration) {
  EXPECT_THAT(out_of("run scale.cu"),
              Holds("config    block=32 unroll=1\n          as a call would be served",
                    "launch    scale<float, 32, 1><<<32, 32>>>", "95% interval", "verified  yes", "y[1000] = "));
}

TEST_F(Run, TakesWhatIsNotNamedFromWhatWouldBeServed) {
  ASSERT_EQ(call("scale.cu --quiet").code, 0);
  const auto served = document("run scale.cu --json")["configuration"];
  const auto changed = document("run scale.cu --json --config unroll=1")["configuration"];
  EXPECT_EQ(changed["unroll"], 1);
  EXPECT_EQ(changed["block"], served["block"]);
}

TEST_F(Run, SaysWhyAConfigurationIsImpossible) {
  const Finished run = this->run("--config 'block=128 unroll=4'");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("small: block * unroll <= 256"));
  expect_failures(1, "256x8x1 = 2048 threads exceeds the limit of 1024 threads per block",
                  {"run --kernel sumMatrix2D --device host --config 'block_x=256 block_y=8'"});
}

TEST_F(Run, ShowsWhatItWillRunBeforeItRuns) {
  std::string broken = contents(small_kernel());
  broken.insert(broken.rfind('}'), "this does not compile");
  EXPECT_THAT(out_of("run --kernel " + file("broken.cu", broken) + " --device host", 1),
              Holds("kernel    scale (", "problem   ", "config    block=32 unroll=1\n"));
}

TEST_F(Run, ComparesWithTheReferenceOnTheCpu) {
  const json run = document("run scale.cu --cpu --json");
  EXPECT_GT(run["cpu"]["median_ns"], 0);
  EXPECT_GT(run["cpu"]["speed_up"], 0);
  EXPECT_EQ(run["cpu"]["outputs"][0]["first"], run["outputs"][0]["first"]);
  EXPECT_EQ(run["cpu"]["outputs"][0]["largest_relative_error"], 0);
}

TEST_F(Run, OnceShowsWhatTheKernelPrintsOnceAndMeasuresNothing) {
  four_integers("hello", R"(#include <stdio.h>
template <int threads> __global__ void hello(int* y) {
  if (threadIdx.x == 0) printf("hello of %d threads\n", threads);
  for (int i = threadIdx.x; i < 4; i += threads) y[i] = i;
}
)");
  const Finished once = call("run hello.cu --once");
  ASSERT_EQ(once.code, 0) << once.err;
  const std::string hello = "hello of 4 threads";
  EXPECT_THAT(once.out, HasSubstr(hello));
  EXPECT_EQ(once.out.find(hello), once.out.rfind(hello));
  EXPECT_THAT(once.out, Holds("not measured", "y[4] = 0, 1, 2, 3"));
  EXPECT_EQ(document("run hello.cu --json")["printed"], hello + "\n");
}

TEST_F(Run, KeepsWhatAReferencePrintsOutOfItsAnswer) {
  const std::string kernel = file("loud.cu", R"(
#pragma tuner kernel      loud
#pragma tuner parameter   threads = 4
#pragma tuner out         y[4] : int
#pragma tuner grid        1
#pragma tuner block       threads
#pragma tuner default     threads=4
#pragma tuner reference   default
#include <stdio.h>
__global__ void loud(int* y) {
  if (threadIdx.x == 0) printf("\033[2Jloud\n");
  y[threadIdx.x] = threads;
}
)");
  const Finished run = call("run --kernel " + kernel + " --device host");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out.find("loud\n"), run.out.rfind("loud\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("\033")));
}

TEST_F(Run, NamesTheFirstWrongElementAndFails) {
  four_integers("wrong", R"(
template <int threads> __global__ void wrong(int* y) { y[threadIdx.x] = threadIdx.x == 3 ? 7 : int(threadIdx.x); }
)");
  EXPECT_THAT(out_of("run wrong.cu", 1), HasSubstr("wrong: y[3] is 7, expected 3"));
}

TEST_F(Run, FailsIfTheKernelReadsSharedMemoryThatItNeverWrote) {
  four_integers("unwritten", R"(
template <int threads> __global__ void unwritten(int* y) {
  __shared__ int bias[4];
  y[threadIdx.x] = threadIdx.x + 2 * bias[threadIdx.x];
}
)");
  EXPECT_THAT(out_of("run unwritten.cu", 1),
              HasSubstr("or shared memory that it never wrote?) y[0] is -2, expected 0"));
}

TEST_F(Run, PrintsPtxWithoutAGpu) {
  if (!has_nvrtc()) GTEST_SKIP() << "no libnvrtc on this machine, or built without the CUDA headers";
  const Finished run = call("run --kernel scale.cu --arch sm_90 --ptx");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(".target sm_90"));
  EXPECT_THAT(run.out, Not(HasSubstr("config ")));
  EXPECT_EQ(call("run --kernel scale.cu --device host --ptx").code, 2);
}

class SweepProgram : public ProgramTest {
 protected:
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
};

TEST_F(SweepProgram, TriesAllOfThePartAndShowsWhatCannotRunWithItsReason) {
  const Finished run = call("scale.cu --fix block=128 --vary unroll --rows all");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("(8,1)"));    // the grid of unroll=1
  EXPECT_THAT(run.out, HasSubstr("(128,1)"));  // its block
  EXPECT_THAT(run.out, HasSubstr("small: block * unroll <= 256"));
  EXPECT_THAT(run.err, Not(HasSubstr("budget")));
}

TEST_F(SweepProgram, DecidesNothing) {
  ASSERT_EQ(call("scale.cu --fix 'block=64 unroll=1' --quiet").code, 0);
  const json answer = document("show scale.cu --why --json");
  EXPECT_EQ(answer["answers"][0]["tier"], "default");
}

TEST_F(SweepProgram, PrintsTheBestForEachValueInDeclaredOrder) {
  const json by = document("scale.cu --fix unroll=1 --by block,T --type float,int --json")["by"];
  ASSERT_EQ(by["block"].size(), 3u);
  EXPECT_EQ(by["block"][0]["value"], "32");
  EXPECT_EQ(by["block"][2]["value"], "128");
  EXPECT_EQ(by["block"][0]["speed_up"], 1.0);
  EXPECT_EQ(by["T"][1]["value"], "int");
}

TEST_F(SweepProgram, KeepsTheValueOfAParameterThatIsCalledStep) {
  std::string text = contents(small_kernel());
  for (std::size_t at = 0; (at = text.find("unroll", at)) != std::string::npos;) text.replace(at, 6, "step");
  file("steps.cu", text);
  const json by = document("steps.cu --fix block=32 --by step --json")["by"]["step"];
  ASSERT_EQ(by.size(), 3u);
  EXPECT_EQ(by[1]["value"], "2");
  EXPECT_EQ(by[1]["over"], "1");
  EXPECT_TRUE(by[1]["gain"].is_number());
}

TEST_F(SweepProgram, ComparesAValueWithTheOneThatItWasMadeFrom) {
  file("parents.cu", contents(small_kernel()) + "#pragma tuner parents block = 128:32\n");
  const json by = document("parents.cu --fix unroll=1 --by block --json")["by"]["block"];
  ASSERT_EQ(by.size(), 3u);
  EXPECT_EQ(by[1]["over"], "32");
  EXPECT_EQ(by[2]["over"], "32");
  EXPECT_EQ(by[2]["gain"], by[2]["speed_up"]);
}

TEST_F(SweepProgram, ShowsFailuresOfAWholeSpaceWhereAllRowsAreAskedFor) {
  std::string text = contents(small_kernel());
  text.insert(text.find("  for (int k"), "  static_assert(block != 64 || unroll != 2, \"no such tile\");\n");
  file("refuses.cu", text);
  EXPECT_THAT(out_of("refuses.cu --rows all"), Holds("why not", "compile: "));
}

TEST_F(SweepProgram, WritesEveryRowAsCsvAndReplacesOnlyItsOwn) {
  ASSERT_EQ(call("scale.cu --vary block,unroll --csv rows.csv").code, 0);
  const std::vector<std::string> rows = lines(contents(folder() / "rows.csv"));
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_THAT(rows[0], StartsWith("kernel,problem,block,unroll,launch.grid,launch.block,outcome,median_ns"));
  EXPECT_THAT(rows[9], Holds(",128,4,", ",invalid,"));
  EXPECT_EQ(call("scale.cu --fix 'block=32 unroll=1' --csv rows.csv").code, 0);
  file("mine.txt", "notes\n");
  EXPECT_EQ(call("scale.cu --fix 'block=32 unroll=1' --csv mine.txt").code, 1);
  EXPECT_EQ(contents(folder() / "mine.txt"), "notes\n");
}

TEST_F(SweepProgram, RefusesUnknownNamesBeforeAnythingRuns) {
  expect_failures(2, "did you mean 'block'", {"scale.cu --fix blok=32", "scale.cu --vary blok", "scale.cu --by blok"});
  EXPECT_EQ(call("scale.cu --rows some").code, 2);
}

}  // namespace
}  // namespace tuner::cli
