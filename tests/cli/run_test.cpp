// `tune run`: one configuration by itself, on the host backend.

#include <tests/cli/program.hpp>

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
  const Finished run = call("run scale.cu");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
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
  const Finished run = call("run --kernel " + file("broken.cu", broken) + " --device host");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, Holds("kernel    scale (", "problem   ", "config    block=32 unroll=1\n"));
}

TEST_F(Run, ComparesWithTheReferenceOnTheCpu) {
  const json run = document("run scale.cu --cpu --json");
  EXPECT_GT(run["cpu"]["median_ns"], 0);
  EXPECT_GT(run["cpu"]["speed_up"], 0);
  EXPECT_EQ(run["cpu"]["outputs"][0]["first"], run["outputs"][0]["first"]);
  EXPECT_EQ(run["cpu"]["outputs"][0]["largest_relative_error"], 0);
}

TEST_F(Run, GoesOnWithoutMetricsThatCannotBeHadAndSaysWhyOnce) {
  const Finished run = this->run("--metrics textbook");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("not collected: there are hardware counters on a GPU only; `tune devices` says"));
  EXPECT_EQ(run.err.find("not collected"), run.err.rfind("not collected"));
  EXPECT_THAT(run.out, AllOf(HasSubstr("95% interval"), HasSubstr("verified  yes"), Not(HasSubstr("metrics"))));
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
  EXPECT_EQ(run.out.find('\033'), std::string::npos);
}

TEST_F(Run, NamesTheFirstWrongElementAndFails) {
  four_integers("wrong", R"(
template <int threads> __global__ void wrong(int* y) { y[threadIdx.x] = threadIdx.x == 3 ? 7 : int(threadIdx.x); }
)");
  const Finished run = call("run wrong.cu");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("wrong: y[3] is 7, expected 3"));
}

TEST_F(Run, PrintsPtxWithoutAGpu) {
  if (!has_nvrtc()) GTEST_SKIP() << "no libnvrtc on this machine, or built without the CUDA headers";
  const Finished run = call("run --kernel scale.cu --arch sm_90 --ptx");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(".target sm_90"));
  EXPECT_THAT(run.out, Not(HasSubstr("config ")));
  EXPECT_EQ(call("run --kernel scale.cu --device host --ptx").code, 2);
}

}  // namespace
}  // namespace tuner::cli
