// Real workers but no GPU: the tests ask about configurations that a GPU could name best.

#include <atomic>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/session/tuning/winner_check.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

using ::testing::Eq;

constexpr const char* kDoesDirectives = R"(
#pragma tuner kernel      k
#pragma tuner size        n : int = 16777216
#pragma tuner parameter   does = well badly
#pragma tuner in          a[n] : int
#pragma tuner out         c[n] : int
#pragma tuner arguments   a, c, n
#pragma tuner grid        ceil_div(n, 64)
#pragma tuner block       64
#pragma tuner instantiate k<Does::does>
#pragma tuner reference   k<Does::well>
#pragma tuner grid        ceil_div(n, 64)
#pragma tuner block       64
)";
constexpr const char* kMatrixDirectives = R"(
#pragma tuner kernel      k
#pragma tuner size        m n : int = 4096
#pragma tuner parameter   does = well badly
#pragma tuner in          a[m * n] : int
#pragma tuner out         c[n] : int
#pragma tuner arguments   a, c, m, n
#pragma tuner grid        1
#pragma tuner block       64
#pragma tuner instantiate k<Does::does>
#pragma tuner default     does=well
#pragma tuner reference   default
)";
constexpr const char* kDoesFunction = R"(
enum class Does { well, badly };
template <Does does> __global__ void k(const int* a, int* c, int n) {
  const int i = int(blockIdx.x) * 64 + int(threadIdx.x);
)";

KernelSpec does_kernel(const std::string& body, const std::string& directives = "") {
  return parse_kernel_file(kDoesDirectives + directives + kDoesFunction + body + "\n}\n", "k.cu");
}
const Configuration kBadly{{"does", "badly"}};

/// An answer that finds nothing wrong, for \p reason; "": it was checked.
auto could_not(const auto& reason) {
  return AllOf(Field(&WinnerCheck::Answer::wrong, Eq(std::nullopt)), Field(&WinnerCheck::Answer::why_not, reason));
}

TEST(WinnerCheck, FindsRacesOnASmallerProblemAndLeavesWhatIsRightAlone) {
  const KernelSpec spec = read_kernel_file(std::string(TUNER_SOURCE_DIR) + "/tests/session/data/wrong.cu");
  WinnerCheck check(spec, {{{"n", 1 << 24}}, {}});
  for (const char* race : {"next_neighbour", "sum_of_blocks"}) {
    const auto [wrong, why_not, by] = check.ask(Configuration{{"mistake", race}});
    ASSERT_TRUE(wrong) << race << why_not;
    EXPECT_THAT(wrong->message, HasSubstr("on the host backend: "));
    EXPECT_THAT(wrong->message, HasSubstr("on n=4096"));
  }
  EXPECT_THAT(check.ask(Configuration{{"mistake", "none"}}), could_not(""));
}

TEST(WinnerCheck, DoesNotTrustASmallerProblemOnWhichTheDefaultIsWrongToo) {
  const KernelSpec spec =
      does_kernel("if (i < n) c[i] = n < 1000000 ? i + int(does) : a[i];", "#pragma tuner default does=badly");
  WinnerCheck check(spec, {});
  EXPECT_THAT(check.ask(kBadly), could_not(HasSubstr("c[0] is ")));
}

TEST(WinnerCheck, TakesAVerifyProblemAtItsWord) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = n < 1000000 ? i + int(does) : a[i];",
                                      "#pragma tuner default does=badly\n#pragma tuner verify n=777");
  const auto wrong = WinnerCheck(spec, {}).ask(kBadly).wrong;
  ASSERT_TRUE(wrong);
  EXPECT_THAT(wrong->message, HasSubstr("on n=777"));
}

/// The problem on which `does=badly` is checked, or why there is none.
std::string checked_on(const std::string& directives, bool may_be_large = false) {
  const char* const function =
      "enum class Does { well, badly };\ntemplate <Does does> __global__ void k(const int* a, int* c, int m, int n) "
      "{}\n";
  const KernelSpec spec = parse_kernel_file(kMatrixDirectives + directives + function, "k.cu");
  std::string why_not;
  const auto problem = check_problem(spec, complete(spec, {}), {}, kBadly, may_be_large, why_not);
  if (!problem) return why_not;
  return problem->size.sizes_text() + (problem->made_smaller ? " made smaller" : "");
}

TEST(WinnerCheck, ChoosesAProblemForWhichTheConfigurationIsValid) {
  const std::string verify = "#pragma tuner verify m=8 n=8\n#pragma tuner verify m=2000 n=500\n";
  EXPECT_EQ(checked_on(verify), "m=2000 n=500") << "the largest small one";
  EXPECT_EQ(checked_on(verify + "#pragma tuner constraint c: does == well or m < 100\n"), "m=8 n=8");
  const std::string large = verify + "#pragma tuner constraint c: does == well or m >= 4096\n";
  EXPECT_EQ(checked_on(large), "m=4096 n=128 made smaller");
}

TEST(WinnerCheck, ChoosesALargeProblemOnAGpuAlone) {
  const std::string large = "#pragma tuner constraint c: does == well or m * n > 2000000\n";
  EXPECT_EQ(checked_on(large, true), "m=4096 n=4096");
  EXPECT_EQ(checked_on(large + "#pragma tuner verify m=2000 n=2000\n", true), "m=2000 n=2000");
  EXPECT_THAT(checked_on(large), AllOf(HasSubstr("not valid for a small problem (m="), HasSubstr("`verify` line")));
}

TEST(WinnerCheck, SaysThatAKernelIsForGpusOnly) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = __nv_texture_of_a_gpu(a, i);");
  WinnerCheck check(spec, {});
  EXPECT_THAT(check.ask(kBadly), could_not(HasSubstr("does not compile")));
}

TEST(WinnerCheck, DoesNotTrustTheHostWithCodeThatItLeavesOut) {
  const KernelSpec spec =
      does_kernel("if (i >= n) return;\n#if __CUDA_ARCH__ >= 700\n  c[i] = a[i];\n#else\n  c[i] = int(does);\n#endif",
                  "#pragma tuner verify n=777");
  WinnerCheck check(spec, {});
  EXPECT_THAT(check.ask(kBadly), could_not(HasSubstr("code that `__CUDA_ARCH__` guards is left out on the host")));
}

TEST(WinnerCheck, KnowsWhatItHasLookedAt) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = n < 1000000 ? i + int(does) : a[i];",
                                      "#pragma tuner default does=badly\n#pragma tuner verify n=777");
  WinnerCheckOptions options;
  options.trials = 1;
  WinnerCheck check(spec, {}, options);
  check.expect(kBadly);
  for (int i = 0; i < 2; ++i) {
    const auto [wrong, why_not, by] = check.ask(kBadly);
    ASSERT_TRUE(wrong) << why_not;
    EXPECT_THAT(wrong->message, HasSubstr("on n=777"));
  }
  EXPECT_THAT(check.ask(Configuration{{"does", "well"}}),
              could_not(HasSubstr("its limit of 1 configurations and 30 s is reached")));
  EXPECT_TRUE(check.ask(kBadly).wrong);
}

TEST(WinnerCheck, EndsWhenItIsStoppedOrItsTimeIsSpent) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = a[i];");
  const std::atomic<bool> stop = true;
  WinnerCheckOptions stopped, late, hurried;
  stopped.stop = &stop;
  late.until = std::chrono::steady_clock::now();
  hurried.seconds = 0.01;
  for (const auto& [options, why] : {std::pair{stopped, "it was interrupted"},
                                     {late, "the time of the tuning ended first"},
                                     {hurried, "it takes longer than 0.01 s there"}}) {
    WinnerCheck check(spec, {}, options);
    check.expect(kBadly);
    EXPECT_THAT(check.ask(kBadly), could_not(HasSubstr(why)));
  }
}

}  // namespace
}  // namespace tuner
