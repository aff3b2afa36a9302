// Strategies drive real tuning: kernels are compiled, verified and timed on the host backend, by one device or by
// several.

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/trial_store.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

constexpr const char* kKernel = R"(
#pragma tuner kernel      shift
#pragma tuner size        n : int = 4096
#pragma tuner parameter   block = 32 64 128
#pragma tuner parameter   unroll = 1 2 4
#pragma tuner parameter   order = rows columns
#pragma tuner constraint  small: block * unroll <= 256
#pragma tuner in          a[n] : int
#pragma tuner out         b[n] : int
#pragma tuner grid        ceil_div(n, block * unroll)
#pragma tuner block       block
#pragma tuner arguments   a, b, n
#pragma tuner instantiate shift<block, unroll, Order::order>
#pragma tuner reference   reference
enum class Order { rows, columns };
template <int block, int unroll, Order order>
__global__ void shift(const int* a, int* b, int n) {
  for (int k = 0; k < unroll; ++k) {
    const int inner = order == Order::rows ? k * block + int(threadIdx.x) : int(threadIdx.x) * unroll + k;
    const int i = int(blockIdx.x) * block * unroll + inner;
    if (i < n) b[i] = a[i] + 1;
  }
}
__global__ void reference(const int* a, int* b, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) b[i] = a[i] + 1;
}
)";

/// \p batch: the configurations of one compile.
SessionResult tune_on_host(const KernelSpec& spec, std::size_t batch, const SessionOptions& options = {}) {
  const ProblemSize size = complete(spec, {});
  const Device device = choose_device("host").device;
  const std::unique_ptr<Backend> backend = open_backend(device);
  MeasureOptions measure;
  measure.min_samples = 3;
  IsolatedEvaluator evaluator(spec, size, measure, {.here = backend.get(), .batch = batch});
  return run_session(spec, size, device, evaluator, nullptr, options, nullptr);
}

class LiveStrategy : public ::testing::TestWithParam<std::string> {};

TEST_P(LiveStrategy, TunesAKernelOnTheHost) {
  const KernelSpec spec = parse_kernel_file(kKernel, "shift.cu");
  SessionOptions options;
  options.strategy = GetParam();
  options.budget.trials = 10;
  const SessionResult result = tune_on_host(spec, 16, options);
  EXPECT_EQ(result.trials.size(), 10u);
  std::set<Configuration> tried;
  for (const Trial& trial : result.trials) {
    EXPECT_TRUE(trial.verified) << trial.configuration.text() << ": " << message(trial.outcome);
    EXPECT_TRUE(tried.insert(trial.configuration).second) << trial.configuration.text() << " was tried twice";
  }
  ASSERT_TRUE(result.best);
  EXPECT_GT(result.best->measurement()->median_ns, 0);
}

TEST(Structs, WhoseFloatingNumbersAConfigurationIgnoresMakeItWrong) {
  const KernelSpec spec = parse_kernel_file(R"(
#pragma tuner kernel      scale
#pragma tuner size        n : int = 200
#pragma tuner parameter   ignores = 0 1
#pragma tuner scalar      p = { 1, 2 }
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner grid        ceil_div(n, 64)
#pragma tuner block       64
#pragma tuner instantiate scale<ignores>
#pragma tuner arguments   a, b, n, p
#pragma tuner default     ignores=0
#pragma tuner reference   default
struct Factors { float by, shift; };
template <int ignores>
__global__ void scale(const float* a, float* b, int n, Factors p) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) b[i] = ignores ? a[i] + 2 : a[i] * p.by + p.shift;
}
)",
                                            "scale.cu");
  const SessionResult result = tune_on_host(spec, 2);
  ASSERT_EQ(result.trials.size(), 2u);
  for (const Trial& trial : result.trials)
    EXPECT_EQ(trial.verified, trial.configuration.text() == "ignores=0") << message(trial.outcome);
}

// A session treats all alike; tests/search/strategy_test.cpp has the rules that each of them keeps.
INSTANTIATE_TEST_SUITE_P(OnTheHost, LiveStrategy, ::testing::Values("auto", "exhaustive"),
                         [](const auto& instance) { return instance.param; });

class SeveralDevices : public ::testing::Test {
 protected:
  const testing::TemporaryFolder folder_;
  const KernelSpec spec_ = parse_kernel_file(kKernel, "shift.cu");
  const ProblemSize size_ = complete(spec_, {});
  const Device device_ = choose_device("host").device;
  Wisdom wisdom_{{folder_ / "wisdom.db", false, {}}};
  TuningOptions options_;
};

TEST_F(SeveralDevices, ShareTheTrialsOfASessionWhichKeepsWhoRanThem) {
  options_.session.strategy = "exhaustive";
  options_.session.budget.trials = 6;
  options_.measure.min_samples = 3;
  options_.more_devices = {device_.index};
  const SessionResult result = tune_kernel(spec_, size_, device_, wisdom_, options_, nullptr);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.trials.size(), 6u);
  ASSERT_EQ(result.lanes.size(), 2u);
  EXPECT_GE(result.lanes[0].trials + result.lanes[1].trials, 6u);
  EXPECT_GE(result.best->lane, 1) << "of a worker, whichever of the two was open by then";

  StoreOptions kept;
  kept.session = {"exhaustive", 1, "tune"};
  kept.conditions = conditions_text(options_, spec_);
  TrialStore store(wisdom_.user(), spec_, size_, device_, kept);
  std::set<int> lanes;
  for (const Trial& trial : store.resume()) {
    lanes.insert(trial.lane);
    EXPECT_FALSE(trial.measurement()->metrics.contains("lane"));
  }
  EXPECT_FALSE(lanes.contains(0));
}

TEST_F(SeveralDevices, NeedWorkerProcesses) {
  options_.isolation = Isolation::none;
  options_.more_devices = {0};
  EXPECT_THAT(error_of([&] { tune_kernel(spec_, size_, device_, wisdom_, options_, nullptr); }),
              HasSubstr("tuning on several devices needs worker processes"));
}

DeviceChoice gpu(int index, int sm_count) {
  Device device;
  device.key = {"cuda", 90, sm_count, 62914560, 6144, 232448, 65536, {}};
  device.index = index;
  return {device, "selected with --device"};
}

TEST(DeviceChoices, AreOneForDevicesOfOneKind) {
  const DeviceChoice chosen = join_choices({gpu(3, 132), gpu(1, 132), gpu(2, 132)}, "3,1,2");
  EXPECT_EQ(chosen.device.index, 3);
  EXPECT_THAT(chosen.more, ElementsAre(1, 2));
}

TEST(DeviceChoices, RefuseDevicesOfDifferentKindsAndNameTheDifference) {
  EXPECT_THAT(error_of([] {
                join_choices({gpu(0, 132), gpu(1, 114)}, "0,1");
              }),
              AllOf(HasSubstr("device '0,1'"), HasSubstr("sm=132 and sm=114")));
}

TEST(DeviceChoices, NameNoDeviceTwice) {
  EXPECT_THAT(error_of([] { choose_devices("host,host"); }), HasSubstr("twice"));
}

TEST(DeviceChoices, RefuseWhatIsNoDevice) {
  EXPECT_THAT(error_of([] { choose_devices("host,fast"); }), HasSubstr("unknown device 'fast'"));
  EXPECT_THAT(error_of([] { choose_devices("host,"); }), HasSubstr("unknown device ''"));
}

}  // namespace
}  // namespace tuner
