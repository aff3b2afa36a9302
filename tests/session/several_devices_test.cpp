// Devices that share the work of one session, and how they are chosen. Needs no GPU: the CPU takes part twice.

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tests/error_of.hpp>
#include <tests/temporary_folder.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/trial_store.hpp>
#include <tuner/session/tuning.hpp>

namespace tuner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kShift = R"(
#pragma tuner kernel      shift
#pragma tuner size        n : int = 4096
#pragma tuner parameter   threads = 32 64 128
#pragma tuner parameter   steps = 1 2
#pragma tuner in          a[n] : int
#pragma tuner out         c[n] : int
#pragma tuner arguments   a, c, n
#pragma tuner grid        ceil_div(n, threads * steps)
#pragma tuner block       threads
#pragma tuner instantiate shift<steps>
#pragma tuner reference   shift<1>
#pragma tuner grid        ceil_div(n, 64)
#pragma tuner block       64
#pragma tuner default     threads=64 steps=1
template <int steps>
__global__ void shift(const int* a, int* c, int n) {
  for (int k = 0; k < steps; ++k) {
    const int i = int((blockIdx.x * steps + k) * blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i] + 1;
  }
}
)";

TEST(SeveralDevices, ShareTheTrialsOfASessionWhichKeepsWhoRanThem) {
  const testing::TemporaryFolder folder;
  const KernelSpec spec = parse_kernel_file(kShift, "shift.cu");
  const Device device = choose_device("host").device;
  const ProblemSize size = complete(spec, {});
  Wisdom wisdom({folder / "wisdom.db", false, {}});
  TuningOptions options;
  options.session.strategy = "exhaustive";
  options.measure.min_samples = 3;
  options.more_devices = {device.index};
  const SessionResult result = tune_kernel(spec, size, device, wisdom, options, nullptr);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.trials.size(), 6u);
  ASSERT_EQ(result.lanes.size(), 2u);
  EXPECT_GE(result.lanes[0].trials + result.lanes[1].trials, 6u);
  EXPECT_GE(result.best->lane, 1) << "of a worker, whichever of the two was open by then";

  StoreOptions kept;
  kept.session = {"exhaustive", 1, "tune"};
  kept.conditions = conditions_text(options, spec);
  TrialStore store(wisdom.user(), spec, size, device, kept);
  std::set<int> lanes;
  for (const Trial& trial : store.resume()) {
    lanes.insert(trial.lane);
    EXPECT_FALSE(trial.measurement()->metrics.contains("lane"));
  }
  EXPECT_FALSE(lanes.contains(0));
}

TEST(SeveralDevices, NeedWorkerProcesses) {
  const testing::TemporaryFolder folder;
  const KernelSpec spec = parse_kernel_file(kShift, "shift.cu");
  const Device device = choose_device("host").device;
  Wisdom wisdom({folder / "wisdom.db", false, {}});
  TuningOptions options;
  options.isolation = Isolation::none;
  options.more_devices = {0};
  EXPECT_THAT(testing::error_of([&] { tune_kernel(spec, complete(spec, {}), device, wisdom, options, nullptr); }),
              HasSubstr("tuning on several devices needs worker processes"));
}

DeviceChoice gpu(int index, int sm_count) {
  Device device;
  device.key = {"cuda", 90, sm_count, 62914560, 6144, 232448, 65536, {}};
  device.index = index;
  return {device, "asked for"};
}

TEST(DeviceChoices, AreOneForEachKind) {
  const auto kinds = by_kind({gpu(3, 132), gpu(0, 114), gpu(1, 132), gpu(2, 114)});
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].device.index, 3);
  EXPECT_THAT(kinds[0].more, ElementsAre(1));
  EXPECT_EQ(kinds[1].device.index, 0);
  EXPECT_THAT(kinds[1].more, ElementsAre(2));
}

TEST(DeviceChoices, TellKindsApartByWhatDiffers) {
  EXPECT_EQ(difference(gpu(0, 132).device.key.text(), gpu(1, 114).device.key.text()), "sm=132 and sm=114");
}

TEST(DeviceChoices, NameNoDeviceTwice) {
  EXPECT_THAT(testing::error_of([] { choose_devices("host,host"); }), HasSubstr("twice"));
}

TEST(DeviceChoices, RefuseWhatIsNoDevice) {
  EXPECT_THAT(testing::error_of([] { choose_devices("host,fast"); }), HasSubstr("unknown device 'fast'"));
  EXPECT_THAT(testing::error_of([] { choose_devices("host,"); }), HasSubstr("unknown device ''"));
}

}  // namespace
}  // namespace tuner
