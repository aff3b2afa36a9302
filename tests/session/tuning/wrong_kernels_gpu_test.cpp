// Wrong kernels on a GPU: a race that it hides, and the mistakes of data/wrong.cu that it always shows.

#include <cache/query/browse.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/backend/all/backends.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/sanitizer.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/tuning/winner_check.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

/// Lanes of one warp run in step, so a missing barrier between them does not show.
constexpr const char* kRace = R"(
#pragma tuner kernel      race
#pragma tuner size        n : int = 1000000
#pragma tuner parameter   rounds_of_waiting = 0 1 64
#pragma tuner in          a[n] : int
#pragma tuner out         c[n] : int
#pragma tuner arguments   a, c, n
#pragma tuner grid        ceil_div(n, 32)
#pragma tuner block       32
#pragma tuner instantiate race<rounds_of_waiting>
#pragma tuner reference   race<1>
#pragma tuner grid        ceil_div(n, 32)
#pragma tuner block       32
#pragma tuner default     rounds_of_waiting=64
template <int waits>
__global__ void race(const int* a, int* c, int n) {
  __shared__ volatile int s[32];
  const int t = int(threadIdx.x), i = int(blockIdx.x) * 32 + t;
  s[t] = i < n ? a[i] : 0;
  for (int wait = 0; wait < waits; ++wait) __syncthreads();
  if (i < n) c[i] = s[(t + 1) % 32];
}
)";

class Warned final : public Observer {
 public:
  void on_warning(std::string_view message) override { all += std::string(message) + '\n'; }
  std::string all;
};

TEST(HostCheckOfAGpu, PassesOverARaceThatTheGpuGetsRight) {
  if (gpu_count() == 0) GTEST_SKIP() << "needs a GPU: " << why_no_gpu();
  const testing::TemporaryFolder folder;
  const KernelSpec spec = parse_kernel_file(kRace, "race.cu");
  const Device device = choose_device("cuda").device;
  Wisdom wisdom({folder / "wisdom.db", false, {}});
  TuningOptions options;
  options.session.strategy = "exhaustive";
  options.host_check = true;
  Warned warned;
  const SessionResult result = tune_kernel(spec, complete(spec, {}), device, wisdom, options, &warned);
  ASSERT_TRUE(result.best) << warned.all;
  EXPECT_NE(*result.best->configuration.find("rounds_of_waiting"), Value(0)) << warned.all;
}

/// The same with an instruction that the host does not know.
KernelSpec race_with_ptx() {
  std::string text = kRace;
  const std::string lane = "const int t = int(threadIdx.x)";
  text.replace(
      text.find(lane), lane.size(),
      "int t;\n  asm volatile(\"bfe.u32 %0, %1, 0, 5;\" : \"=r\"(t) : \"r\"(threadIdx.x));\n  const int warp = t / 32");
  return parse_kernel_file(text, "race.cu");
}

TEST(SanitizerOnAGpu, FindsARaceThatTheGpuGetsRight) {
  if (gpu_count() == 0) GTEST_SKIP() << "needs a GPU: " << why_no_gpu();
  if (find_sanitizer().empty()) GTEST_SKIP() << "compute-sanitizer is not installed";
  const KernelSpec spec = race_with_ptx();
  WinnerCheckOptions options;
  options.seconds = 300;
  options.device = choose_device("cuda").device;
  WinnerCheck check(spec, complete(spec, {}), options);
  const auto [wrong, why_not, by] = check.ask(Configuration{{"rounds_of_waiting", 0}});
  ASSERT_TRUE(wrong) << why_not << by;
  EXPECT_THAT(wrong->message, HasSubstr("compute-sanitizer --tool racecheck: "));
  const auto right = check.ask(Configuration{{"rounds_of_waiting", 1}});
  EXPECT_FALSE(right.wrong);
  EXPECT_EQ(right.why_not, "");
  EXPECT_EQ(right.by, "compute-sanitizer memcheck racecheck synccheck");
}

TEST(SanitizerOnAGpu, PassesOverARaceThatTheHostCannotRun) {
  if (gpu_count() == 0) GTEST_SKIP() << "needs a GPU: " << why_no_gpu();
  if (find_sanitizer().empty()) GTEST_SKIP() << "compute-sanitizer is not installed";
  const testing::TemporaryFolder folder;
  const KernelSpec spec = race_with_ptx();
  Wisdom wisdom({folder / "wisdom.db", false, {}});
  TuningOptions options;
  options.session.strategy = "exhaustive";
  options.host_check = true;
  Warned warned;
  const SessionResult result =
      tune_kernel(spec, complete(spec, {}), choose_device("cuda").device, wisdom, options, &warned);
  ASSERT_TRUE(result.best) << warned.all;
  EXPECT_NE(*result.best->configuration.find("rounds_of_waiting"), Value(0)) << warned.all;
  EXPECT_EQ(result.checked, "compute-sanitizer memcheck racecheck synccheck") << warned.all;
  const auto best = cache::best_rows(wisdom.user());
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].checked, result.checked);
  EXPECT_THAT(best[0].target, HasSubstr("sm_"));
}

/// All except races and stray accesses that fault.
TEST(WrongKernelsOnAGpu, AreNeverVerified) {
  if (gpu_count() == 0) GTEST_SKIP() << "needs a GPU: " << why_no_gpu();
  const KernelSpec spec = read_kernel_file(std::string(TUNER_SOURCE_DIR) + "/tests/session/data/wrong.cu");
  MeasureOptions measure;
  measure.abandon_factor = 0;  // every configuration is verified completely
  IsolatedEvaluator evaluator(spec, {}, measure);
  for (const char* mistake :
       {"none", "just_behind", "just_before", "copies_behind", "last_element", "small_grid", "adds_up", "first_runs",
        "keeps_results", "earlier_results", "later_results", "one_input", "changes_input", "infinite"}) {
    evaluator.submit(Configuration{{"mistake", mistake}}, 0);
    const Trial trial = evaluator.next();
    SCOPED_TRACE(mistake);
    const bool right = trial.configuration == *spec.default_configuration;
    EXPECT_EQ(trial.verified, right) << message(trial.outcome);
    EXPECT_EQ(kind(trial.outcome), right ? "ok" : "wrong") << message(trial.outcome);
  }
}

}  // namespace
}  // namespace tuner
