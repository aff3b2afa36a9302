// No GPU and no compute-sanitizer: a script stands in for it, and the worker that it starts runs on the host backend.

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/sanitizer.hpp>
#include <tuner/session/tuning/winner_check.hpp>

#include <tests/support/environment_variable.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tests/support/wait_until.hpp>

namespace tuner {
namespace {

using ::testing::AllOf;
using ::testing::StartsWith;

TEST(SanitizerReport, NamesTheFirstFindingInOneLine) {
  const SanitizerReport racecheck = read_sanitizer_report(
      "========= COMPUTE-SANITIZER\n"
      "a kernel prints this\n"
      "========= Error: Race reported between Write access at k(const int *)+0x90 in k.cu:20\n"
      "=========     and Read access at k(const int *)+0xb0 in k.cu:21 [3968 hazards]\n"
      "========= \n"
      "========= Error: Race reported between other accesses\n"
      "========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)\n");
  EXPECT_EQ(
      racecheck.finding,
      "Error: Race reported between Write access at k(const int *)+0x90 in k.cu:20 and Read access at k(const int "
      "*)+0xb0 in k.cu:21 [3968 hazards]");
  EXPECT_EQ(racecheck.trouble, "");
  const SanitizerReport memcheck = read_sanitizer_report(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at k(int *)+0x70\n"
      "=========     by thread (0,0,0) in block (7,0,0)\n"
      "=========     Access at 0x7f0000000200 is out of bounds\n"
      "========= ERROR SUMMARY: 32 errors\n");
  EXPECT_EQ(memcheck.finding,
            "Invalid __global__ write of size 4 bytes, at k(int *)+0x70, by thread (0,0,0) in block (7,0,0)");
}

TEST(SanitizerReport, ProvesNothingWithoutASummary) {
  EXPECT_EQ(read_sanitizer_report("").trouble, "it printed no summary");
  const SanitizerReport refused = read_sanitizer_report(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Target application terminated before first instrumented API call\n");
  EXPECT_EQ(refused.trouble, "Error: Target application terminated before first instrumented API call");
  EXPECT_EQ(refused.finding, "");
  const SanitizerReport broken = read_sanitizer_report(
      "========= Internal Sanitizer Error: the tool ran out of memory\n========= ERROR SUMMARY: 1 error\n");
  EXPECT_THAT(broken.trouble, StartsWith("Internal Sanitizer Error"));
  const SanitizerReport clean =
      read_sanitizer_report("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  EXPECT_EQ(clean.finding + clean.trouble, "");
}

/// The host leaves out what `__CUDA_ARCH__` guards, so a wrong result there counts for nothing.
constexpr const char* kGuarded = R"(
#pragma tuner kernel      k
#pragma tuner size        n : int = 256
#pragma tuner parameter   does = well badly worse
#pragma tuner in          a[n] : int
#pragma tuner out         c[n] : int
#pragma tuner arguments   a, c, n
#pragma tuner grid        ceil_div(n, 64)
#pragma tuner block       64
#pragma tuner instantiate k<Does::does>
#pragma tuner default     does=well
#pragma tuner reference   copy
#pragma tuner grid        ceil_div(n, 64)
#pragma tuner block       64
enum class Does { well, badly, worse };
__global__ void copy(const int* a, int* c, int n) {
  const int i = int(blockIdx.x) * 64 + int(threadIdx.x);
  if (i < n) c[i] = a[i];
}
template <Does does> __global__ void k(const int* a, int* c, int n) {
  const int i = int(blockIdx.x) * 64 + int(threadIdx.x);
#ifdef __CUDA_ARCH__
  asm volatile("" ::: "memory");
  if (i < n) c[i] = a[i];
#else
  if (i < n) c[i] = 7 + int(does);
#endif
  if (i == 0) printf("does %d\n", int(does));
}
)";

/// A folder with a program compute-sanitizer, which is first on $PATH.
class FakeSanitizer : public ::testing::Test {
 protected:
  /// Its first words are those of a report, by the numbers that the kernel printed and the tool. It runs the program
  /// that it watches as a child.
  void install(const std::string& report) {
    const auto file = folder_.write("compute-sanitizer",
                                    "#!/bin/sh\n"
                                    "[ \"$1\" = --tool ] || exit 1\n"
                                    "tool=$2\n"
                                    "while [ \"${1#--}\" != \"$1\" ]; do shift 2; done\n"
                                    "printed=$(\"$@\" 2>&1)\n"
                                    "echo '========= COMPUTE-SANITIZER'\n"
                                    "case \"$tool $printed\" in\n" +
                                        report +
                                        "*) echo '========= ERROR SUMMARY: 0 errors' ;;\n"
                                        "esac\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  WinnerCheckOptions options() const {
    WinnerCheckOptions options;
    options.device = choose_device("host").device;
    options.seconds = 10000;
    return options;
  }
  FinalistCheck::Answer ask(const char* does) {
    return WinnerCheck(spec_, {}, options()).ask(Configuration{{"does", does}});
  }

  const testing::TemporaryFolder folder_;
  const testing::EnvironmentVariable path_{"PATH", folder_.path().string() + ":" + std::getenv("PATH")};
  const KernelSpec spec_ = parse_kernel_file(kGuarded, "k.cu");
};

TEST_F(FakeSanitizer, ChecksWhatTheHostCannotRun) {
  install("");
  EXPECT_EQ(find_sanitizer(), folder_ / "compute-sanitizer");
  const FinalistCheck::Answer answer = ask("badly");
  EXPECT_FALSE(answer.wrong);
  EXPECT_EQ(answer.why_not, "");
  EXPECT_EQ(answer.by, "compute-sanitizer memcheck racecheck synccheck");
}

TEST_F(FakeSanitizer, FindsAnErrorOfOneConfiguration) {
  install(
      "'racecheck does 1') echo '========= Error: Race reported'; echo '========= RACECHECK SUMMARY: 1 hazard "
      "displayed (1 error, 0 warnings)' ;;\n"
      "'memcheck does 2') echo '========= Invalid __shared__ read'; echo '========= ERROR SUMMARY: 3 errors' ;;\n");
  const FinalistCheck::Answer race = ask("badly"), access = ask("worse");
  ASSERT_TRUE(race.wrong) << race.why_not;
  EXPECT_EQ(race.wrong->message, "compute-sanitizer --tool racecheck: Error: Race reported on n=256");
  ASSERT_TRUE(access.wrong) << access.why_not;
  EXPECT_EQ(access.wrong->message, "compute-sanitizer --tool memcheck: Invalid __shared__ read on n=256");
  EXPECT_EQ(ask("well").by, "compute-sanitizer memcheck racecheck synccheck");
}

TEST_F(FakeSanitizer, DoesNotCountAHazardThatTheDefaultHasToo) {
  install(
      "racecheck*) echo '========= Warning: Race reported'; echo '========= RACECHECK SUMMARY: 1 hazard displayed' "
      ";;\n");
  for (const char* does : {"badly", "well"}) {
    const FinalistCheck::Answer answer = ask(does);
    EXPECT_FALSE(answer.wrong) << does;
    EXPECT_THAT(answer.why_not, AllOf(HasSubstr("Warning: Race reported on n=256"),
                                      HasSubstr("The default configuration is no different")));
  }
}

TEST_F(FakeSanitizer, SaysWhyItCouldNotCheck) {
  install("memcheck*) echo '========= Error: Device not supported' ;;\n");
  EXPECT_THAT(ask("badly").why_not, AllOf(HasSubstr("`__CUDA_ARCH__` guards"),
                                          HasSubstr(", and compute-sanitizer --tool memcheck: Error: Device not "
                                                    "supported")));
}

TEST_F(FakeSanitizer, IsKilledWithItsProgramOnRequest) {
  install("*) touch \"${0%/*}/sleeps\"; sleep 10000 ;;\n");
  std::atomic<bool> stop = false;
  WinnerCheckOptions stopped = options();
  stopped.stop = &stop;
  WinnerCheck check(spec_, {}, stopped);
  const std::jthread stopper(
      [&] { stop = testing::wait_until([&] { return std::filesystem::exists(folder_ / "sleeps"); }); });
  EXPECT_THAT(check.ask(Configuration{{"does", "badly"}}).why_not, HasSubstr("compute-sanitizer was interrupted"));
}

TEST(Sanitizer, IsMissedByItsName) {
  const testing::TemporaryFolder folder;
  const testing::EnvironmentVariable path("PATH", folder.path().string());
  const testing::EnvironmentVariable toolkit("CUDA_PATH", folder.path().string());
  if (const auto installed = find_sanitizer(); !installed.empty()) GTEST_SKIP() << "there is " << installed;
  const KernelSpec spec = parse_kernel_file(kGuarded, "k.cu");
  WinnerCheckOptions options;
  options.device = choose_device("host").device;
  options.seconds = 10000;
  EXPECT_THAT(WinnerCheck(spec, {}, options).ask(Configuration{{"does", "badly"}}).why_not,
              HasSubstr("is not installed"));
}

}  // namespace
}  // namespace tuner
