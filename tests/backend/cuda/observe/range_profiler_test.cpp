// Counting with a fake CUPTI.

#include <tuner/backend/cuda/observe/range_profiler.hpp>

#include <dlfcn.h>

#include <tests/support/environment_variable.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner::cuda {
namespace {

const Cupti& fake() {
  static const Cupti loaded = load_cupti({.requested = TUNER_FAKE_CUPTI});
  return loaded;
}

class RangeProfilerTest : public ::testing::Test {
 protected:
  void SetUp() override { (void)log(); }

  static std::unique_ptr<Counters> counters() { return open_counters(fake(), nullptr, 0); }
  /// The calls of CUPTI since the last call of this function.
  static std::string log() {
    void* const library = ::dlopen(TUNER_FAKE_CUPTI, RTLD_NOW);
    const auto told = reinterpret_cast<const char* (*)()>(::dlsym(library, "fake_cupti_log"));
    return told();
  }
  static std::string refusal(const CountResult& result) {
    const auto* const why = std::get_if<Unavailable>(&result);
    return why != nullptr ? why->reason : "it was counted";
  }
  /// Work that logs when it is prepared and when it runs.
  static CountedWork work(std::string& told, std::size_t launches) {
    CountedWork one;
    one.before = [&told] { told += "ready "; };
    one.run = [&told]() -> std::optional<Unavailable> {
      told += "run ";
      return std::nullopt;
    };
    one.launches = launches;
    return one;
  }
};

const std::vector<std::string> kAsked{"inst_per_warp", "sm__cycles.sum"};

TEST_F(RangeProfilerTest, CountsOneLaunchByItselfAndMakesEachPassReady) {
  std::string told;
  const CountResult result = counters()->collect(kAsked, work(told, 1));
  EXPECT_THAT(std::get<Metrics>(result), ElementsAre(Pair("inst_per_warp", 10), Pair("sm__cycles.sum", 11)));
  EXPECT_EQ(told, "ready run ready run ");
  EXPECT_THAT(log(), HasSubstr("enable ranges:launches start stop start stop decode disable"));
}

TEST_F(RangeProfilerTest, StaysOnBetweenConfigurationsUntilSomethingIsTimed) {
  const auto kept = counters();
  std::string told;
  (void)kept->collect(kAsked, work(told, 1));
  (void)kept->collect(kAsked, work(told, 1));
  EXPECT_THAT(log(), EndsWith("enable ranges:launches start stop start stop decode ranges:launches start stop start "
                              "stop decode"));
  kept->rest();
  EXPECT_EQ(log(), "disable");
  (void)kept->collect(kAsked, work(told, 1));
  (void)log();
  (void)kept->collect(kAsked, work(told, 2));
  EXPECT_THAT(log(), StartsWith("disable enable ranges:given")) << "one kind of range at a time";
}

TEST_F(RangeProfilerTest, BeginsAnewForOtherMetricsSinceCuptiKeepsWhatItWasGiven) {
  const auto kept = counters();
  std::string told;
  (void)kept->collect(kAsked, work(told, 1));
  (void)log();
  (void)kept->collect(std::vector<std::string>{"ipc"}, work(told, 1));
  EXPECT_THAT(log(), StartsWith("disable plan sm__inst_executed.avg.per_cycle_active enable"));
}

TEST_F(RangeProfilerTest, CountsSeveralLaunchesAsOneRange) {
  std::string told;
  const CountResult result = counters()->collect(kAsked, work(told, 3));
  EXPECT_EQ(refusal(result), "it was counted");
  EXPECT_EQ(told, "ready run ready run ");
  EXPECT_THAT(log(), HasSubstr("enable ranges:given start push pop stop start push pop stop decode disable"));
}

TEST_F(RangeProfilerTest, PlansTheSameMetricsOnce) {
  const auto kept = counters();
  std::string told;
  (void)kept->collect(kAsked, work(told, 1));
  EXPECT_THAT(log(), HasSubstr("plan smsp__average_inst_executed_per_warp.ratio sm__cycles.sum"));
  (void)kept->collect(kAsked, work(told, 1));
  EXPECT_THAT(log(), Not(HasSubstr("plan")));
}

TEST_F(RangeProfilerTest, AsksNothingOfTheDeviceForNoMetrics) {
  std::string told;
  EXPECT_EQ(std::get<Metrics>(counters()->collect({}, work(told, 1))), Metrics{});
  EXPECT_EQ(told, "");
  EXPECT_EQ(log(), "");
}

TEST_F(RangeProfilerTest, EndsWithTheKernelsFailureAndSwitchesProfilingOff) {
  CountedWork failing;
  failing.before = [] {};
  failing.run = [] { return std::optional(Unavailable{"the kernel faulted"}); };
  EXPECT_EQ(refusal(counters()->collect(kAsked, failing)), "the kernel faulted");
  EXPECT_THAT(log(), HasSubstr("enable ranges:launches start disable"));
}

TEST_F(RangeProfilerTest, SaysWhatIsMissingWhereCountingIsRefused) {
  const auto refused_with = [](const char* code) {
    const testing::EnvironmentVariable enabling("TUNER_FAKE_CUPTI_ENABLE", code);
    std::string told;
    return refusal(counters()->collect(kAsked, work(told, 1)));
  };
  EXPECT_THAT(refused_with("35"), AllOf(HasSubstr("does not let this process read hardware counters (CUPTI error 35)"),
                                        HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"), HasSubstr("CAP_PERFMON")));
  EXPECT_THAT(refused_with("40"), HasSubstr("the host of this virtual machine"));
  EXPECT_THAT(refused_with("41"), HasSubstr("confidential computing"));
  EXPECT_THAT(refused_with("43"), HasSubstr("(MIG)"));
  EXPECT_THAT(refused_with("39"), HasSubstr("another profiler"));
  EXPECT_THAT(refused_with("7"),
              AllOf(HasSubstr("cuptiRangeProfilerEnable of "), HasSubstr("CUPTI_ERROR_MADE_UP (CUPTI error 7)")));
}

TEST(LoadCupti, SaysWhatWasTriedAndWhatToDo) {
  const auto reason = [](const std::string& asked) { return error_of([&] { load_cupti({.requested = asked}); }); };
  EXPECT_THAT(reason("/nowhere/libcupti.so.13"),
              AllOf(HasSubstr("install the CUDA toolkit (12.6 or newer), or set TUNER_CUPTI"),
                    HasSubstr("/nowhere/libcupti.so.13")));
  const testing::TemporaryFolder folder;
  EXPECT_THAT(reason(folder.path().string()), HasSubstr("no libcupti.so.13 or .12 in " + folder.path().string()));
  EXPECT_THAT(reason("libm.so.6"), HasSubstr("lacks cuptiGetVersion (CUDA 12.6 or newer is needed)"));
}

TEST(LoadCupti, LooksBesideNvrtcFirstAndForNewerOnesThanTheDriverLast) {
  const testing::TemporaryFolder folder;
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12"}) folder.write(name, "");
  CuptiSearch search;
  search.nvrtc = folder.path() / "libnvrtc.so.13";
  EXPECT_EQ(cupti_candidates(search).at(0), folder.path() / "libcupti.so.13");
  search.newest_major = 12;
  EXPECT_EQ(cupti_candidates(search).at(0), folder.path() / "libcupti.so.12");
}

}  // namespace
}  // namespace tuner::cuda
