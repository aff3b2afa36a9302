/// Kernels that launch kernels, on a GPU.

#include <memory>
#include <string>

#include <fmt/format.h>

#include <tests/matchers.hpp>
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/device_linker.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>
#include <tuner/measure/single_run.hpp>

#include "sample.hpp"

namespace tuner {
namespace {

Backend& nesting_gpu() {
  static const std::unique_ptr<Backend> shared = make_cuda_backend();
  return *shared;
}

std::string why_no_nesting() {
  if (!cuda::driver_status().available) return "no usable GPU: " + cuda::driver_status().reason;
  if (cuda::find_nvrtc() == nullptr) return "no libnvrtc on this machine";
  const auto linker =
      cuda::load_device_linker(cuda::nvrtc().version / 1000, cuda::device_linker_folders(cuda::nvrtc()));
  const auto* const missing = std::get_if<std::string>(&linker);
  return missing != nullptr ? *missing : "";
}

struct Nesting {
  const char* step;
  const char* stream;
};

void PrintTo(const Nesting& nesting, std::ostream* out) { *out << nesting.step << ' ' << nesting.stream; }

class GpuNestedReduce : public ::testing::TestWithParam<Nesting> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_nesting(); !why.empty()) GTEST_SKIP() << why;
  }

  static void expect_right(std::int64_t n, int threads) {
    const KernelSpec spec = testing::built_in("nestedReduce");
    const Configuration configuration = testing::default_with(
        spec, fmt::format("step={} stream={} threads={}", GetParam().step, GetParam().stream, threads));
    SingleRun one(nesting_gpu(), spec, {{{"n", n}}, {{"T", "int"}}}, configuration, testing::verify_only());
    const Trial trial = one.measure();
    EXPECT_TRUE(trial.verified) << "n=" << n << ' ' << configuration.text() << ": " << kind(trial.outcome) << ": "
                                << message(trial.outcome);
  }
};

TEST_P(GpuNestedReduce, IsRightForOneElement) { expect_right(1, 512); }
TEST_P(GpuNestedReduce, IsRightForLessThanABlock) { expect_right(511, 512); }
TEST_P(GpuNestedReduce, IsRightForMoreBlocksThanLaunchesMayWaitUnasked) { expect_right((1 << 20) + 1, 256); }
TEST_P(GpuNestedReduce, IsRightForSixteenMillionElements) { expect_right(1 << 24, 1024); }

INSTANTIATE_TEST_SUITE_P(Steps, GpuNestedReduce,
                         ::testing::Values(Nesting{"nested", "tail"}, Nesting{"nested", "fire_and_forget"},
                                           Nesting{"nested_nosync", "tail"}, Nesting{"nested2", "tail"},
                                           Nesting{"flat", "tail"}),
                         [](const auto& nesting) {
                           return std::string(nesting.param.step) + '_' + nesting.param.stream;
                         });

TEST(GpuNestedHello, GreetsDepthByDepth) {
  if (const std::string why = why_no_nesting(); !why.empty()) GTEST_SKIP() << why;
  const KernelSpec spec = testing::built_in("nestedHello");
  SingleRun one(nesting_gpu(), spec, {{{"threads", 8}, {"elements", 8}}, {}}, *spec.default_configuration,
                testing::verify_only());
  ::testing::internal::CaptureStdout();
  const auto failure = one.launch();
  nesting_gpu().synchronize(nullptr);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  ASSERT_FALSE(failure) << message(*failure);
  std::size_t before = 0;
  for (const char* const line :
       {"depth 0: hello from thread 7 of block 0", "depth 1: hello from thread 3 of block 0",
        "depth 2: hello from thread 1 of block 0", "depth 3: hello from thread 0 of block 0"}) {
    const std::size_t at = printed.find(line);
    ASSERT_NE(at, std::string::npos) << line << " in\n" << printed;
    EXPECT_GE(at, before) << printed;
    before = at;
  }
}

class GpuDeviceLaunches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_nesting(); !why.empty()) GTEST_SKIP() << why;
  }

  static std::size_t limit() {
    const cuda::Driver& driver = cuda::driver();
    std::size_t value = 0;
    CUdevice device = 0;
    CUcontext context = nullptr;
    driver.cuDeviceGet(&device, nesting_gpu().device().index);
    driver.cuDevicePrimaryCtxRetain(&context, device);
    driver.cuCtxPushCurrent(context);
    EXPECT_EQ(driver.cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT), CUDA_SUCCESS);
    driver.cuCtxPopCurrent(&context);
    driver.cuDevicePrimaryCtxRelease(device);
    return value;
  }

  static void run(int blocks) {
    const KernelSpec spec = testing::built_in("nestedReduce");
    SingleRun one(nesting_gpu(), spec, {{{"n", 32 * blocks}}, {}},
                  testing::default_with(spec, "step=nested threads=32"), testing::verify_only());
    const auto failure = one.launch();
    EXPECT_FALSE(failure) << message(*failure);
  }
};

TEST_F(GpuDeviceLaunches, FindTheRoomThatTheirRunNeedsAndNoMore) {
  const std::size_t before = limit();
  run(static_cast<int>(before) + 1000);
  EXPECT_GE(limit(), before + 1000);
  run(2);
  EXPECT_EQ(limit(), before);
}

TEST_F(GpuDeviceLaunches, KeepTheRoomThatWasMadeForGood) {
  const std::int64_t more = static_cast<std::int64_t>(limit()) + 1000;
  nesting_gpu().allow_device_launches(more);
  EXPECT_EQ(limit(), static_cast<std::size_t>(more));
  nesting_gpu().allow_device_launches(1);
  run(2);
  EXPECT_EQ(limit(), static_cast<std::size_t>(more));
}

}  // namespace
}  // namespace tuner
