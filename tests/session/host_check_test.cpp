// Real workers but no GPU: the tests ask about configurations that a GPU could name best.
#include <atomic>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuner/core/kernel_file.hpp>
#include <tuner/session/host_check.hpp>

namespace tuner {
namespace {

using ::testing::HasSubstr;

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
constexpr const char* kDoesFunction = R"(
enum class Does { well, badly };
template <Does does> __global__ void k(const int* a, int* c, int n) {
  const int i = int(blockIdx.x) * 64 + int(threadIdx.x);
)";

KernelSpec does_kernel(const std::string& body, const std::string& directives = "") {
  return parse_kernel_file(kDoesDirectives + directives + kDoesFunction + body + "\n}\n", "k.cu");
}
const Configuration kBadly{{"does", "badly"}};

TEST(HostCheck, FindsRacesOnASmallerProblemAndLeavesWhatIsRightAlone) {
  const KernelSpec spec = read_kernel_file(std::string(TUNER_SOURCE_DIR) + "/tests/session/data/wrong.cu");
  HostCheck check(spec, {{{"n", 1 << 24}}, {}});
  for (const char* race : {"next_neighbour", "sum_of_blocks"}) {
    const auto wrong = check.wrong(Configuration{{"mistake", race}});
    ASSERT_TRUE(wrong) << race << check.why_not();
    EXPECT_THAT(wrong->message, HasSubstr("on the host backend: "));
    EXPECT_THAT(wrong->message, HasSubstr("on n=4096"));
  }
  EXPECT_FALSE(check.wrong(Configuration{{"mistake", "none"}}));
  EXPECT_EQ(check.why_not(), "");
}

TEST(HostCheck, DoesNotBelieveAProblemOfItsOwnMakingThatTheDefaultIsWrongOnToo) {
  const KernelSpec spec =
      does_kernel("if (i < n) c[i] = n < 1000000 ? i + int(does) : a[i];", "#pragma tuner default does=badly");
  HostCheck check(spec, {});
  EXPECT_FALSE(check.wrong(kBadly));
  EXPECT_THAT(check.why_not(), HasSubstr("c[0] is "));
}

TEST(HostCheck, TakesAVerifyProblemAtItsWord) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = n < 1000000 ? i + int(does) : a[i];",
                                      "#pragma tuner default does=badly\n#pragma tuner verify n=777");
  const auto wrong = HostCheck(spec, {}).wrong(kBadly);
  ASSERT_TRUE(wrong);
  EXPECT_THAT(wrong->message, HasSubstr("on n=777"));
}

TEST(HostCheck, SaysThatAKernelIsForGpusOnly) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = __nv_texture_of_a_gpu(a, i);");
  HostCheck check(spec, {});
  EXPECT_FALSE(check.wrong(kBadly));
  EXPECT_THAT(check.why_not(), HasSubstr("does not compile"));
}

TEST(HostCheck, KnowsWhatItHasLookedAt) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = n < 1000000 ? i + int(does) : a[i];",
                                      "#pragma tuner default does=badly\n#pragma tuner verify n=777");
  HostCheckOptions options;
  options.trials = 1;
  HostCheck check(spec, {}, options);
  check.expect(kBadly);
  for (int i = 0; i < 2; ++i) {
    const auto wrong = check.wrong(kBadly);
    ASSERT_TRUE(wrong) << check.why_not();
    EXPECT_THAT(wrong->message, HasSubstr("on n=777"));
  }
  EXPECT_FALSE(check.wrong(Configuration{{"does", "well"}}));
  EXPECT_THAT(check.why_not(), HasSubstr("its limit of 1 configurations and 30 s is reached"));
  EXPECT_TRUE(check.wrong(kBadly));
  EXPECT_EQ(check.why_not(), "");
}

TEST(HostCheck, EndsWhenItIsStopped) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = a[i];");
  const std::atomic<bool> stop = true;
  HostCheckOptions options;
  options.stop = &stop;
  HostCheck check(spec, {}, options);
  check.expect(kBadly);
  EXPECT_FALSE(check.wrong(kBadly));
  EXPECT_EQ(check.why_not(), "it was interrupted");
}

TEST(HostCheck, GivesUpWhenItsTimeIsSpent) {
  const KernelSpec spec = does_kernel("if (i < n) c[i] = a[i];");
  HostCheckOptions options;
  options.seconds = 0.01;
  HostCheck check(spec, {}, options);
  EXPECT_FALSE(check.wrong(kBadly));
  EXPECT_EQ(check.why_not(), "it takes longer than 0.01 s there");
}

}  // namespace
}  // namespace tuner
