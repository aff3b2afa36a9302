#include <tuner/cli/print/stored_verdict.hpp>

#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cli {
namespace {

/// A copy of 400 MB, by blocks of 64.
KernelSpec copy_kernel() {
  return parse_kernel_file(R"(
#pragma tuner kernel      copy
#pragma tuner size        n = 50M
#pragma tuner parameter   block = 64 256
#pragma tuner in          x[n] : float
#pragma tuner out         y[n] : float
#pragma tuner grid        ceil_div(n, block)
#pragma tuner block       block
#pragma tuner arguments   x, y, n
#pragma tuner instantiate copy<block>
#pragma tuner bytes       8 * n
#pragma tuner default     block=256
template <int block>
__global__ void copy(const float* x, float* y, int n) {}
)",
                           "copy.cu");
}

/// The best takes 100 us: 4 TB/s.
report::Tuning copy_tuning(const std::string& properties) {
  report::Tuning tuning;
  tuning.key.device.sm_count = 132;
  tuning.key.device.properties = properties;
  tuning.key.problem.sizes = {{"n", 50'000'000}};
  tuning.best.emplace();
  tuning.best->configuration = "block=64";
  tuning.best->median_ns = 100e3;
  return tuning;
}

std::optional<Verdict> verdict_on(const report::Tuning& tuning) {
  return stored_verdict(copy_kernel(), tuning, from_record(tuning.key.device));
}

constexpr const char* kSeen = R"({"copy_bytes_per_s":4.2e12,"read_bytes_per_s":4.5e12,"launch_ns":2000})";

TEST(StoredVerdict, IsDrawnFromWhatTheTuningsSawOfTheDevice) {
  const auto verdict = verdict_on(copy_tuning(kSeen));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->limit, Limit::dram);
  EXPECT_THAT(verdict->reason, HasSubstr("it moves 4.00 TB/s, 95% of the 4.20 TB/s"));
  EXPECT_FALSE(verdict->counted);
  EXPECT_THAT(verdict->numbers, ElementsAre(HasSubstr("a kernel that does nothing takes 2.00 us")));
  EXPECT_THAT(verdict->remarks, IsEmpty());
}

TEST(StoredVerdict, IsUnknownWhereNothingWasSeenOfTheDevice) {
  for (const char* const properties : {"{}", "[1]", "", R"({"copy_bytes_per_s":"much"})"}) {
    const auto verdict = verdict_on(copy_tuning(properties));
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->limit, Limit::unknown) << properties;
  }
}

TEST(StoredVerdict, TakesTheCountersOfTheBestsLatestTrial) {
  report::Tuning tuning = copy_tuning(kSeen);
  for (const double busy : {10.0, 91.0}) {
    report::PlacedTrial& placed = tuning.trials.emplace_back();
    placed.trial.configuration = "block=64";
    placed.trial.kind = "ok";
    placed.trial.median_ns = 100e3;
    placed.trial.metrics["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = busy;
  }
  const auto verdict = verdict_on(tuning);
  EXPECT_TRUE(verdict->counted);
  EXPECT_THAT(verdict->reason, HasSubstr("device memory is 91% busy by its counters"));
}

TEST(StoredVerdict, IsNoneWithoutABest) {
  report::Tuning tuning = copy_tuning(kSeen);
  tuning.best.reset();
  EXPECT_FALSE(verdict_on(tuning));
}

}  // namespace
}  // namespace tuner::cli
