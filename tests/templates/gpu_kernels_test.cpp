// Kernels that need a GPU or do something else there: they launch kernels, have options for the compiler, race, let
// their grid meet, or are written as other people write them.
#include <fmt/format.h>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/compile/device_linker.hpp>
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/single_run.hpp>

#include <tests/support/testing.hpp>

#include "sample.hpp"
#include "wild.hpp"

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

class GpuNesting : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_nesting(); !why.empty()) GTEST_SKIP() << why;
  }
};

/// By its step and its stream.
class GpuNestedReduce : public GpuNesting, public ::testing::WithParamInterface<std::pair<const char*, const char*>> {
 protected:
  static void expect_right(std::int64_t n, int threads) {
    const auto [step, stream] = GetParam();
    const KernelSpec spec = testing::built_in("nestedReduce");
    testing::expect_right(
        nesting_gpu(), spec, complete(spec, {{{"n", n}}, {{"T", "int"}}}),
        {testing::default_with(spec, fmt::format("step={} stream={} threads={}", step, stream, threads))});
  }
};

TEST_P(GpuNestedReduce, IsRightForOneElement) { expect_right(1, 512); }
TEST_P(GpuNestedReduce, IsRightForLessThanABlock) { expect_right(511, 512); }
TEST_P(GpuNestedReduce, IsRightForMoreBlocksThanLaunchesMayWaitUnasked) { expect_right((1 << 20) + 1, 256); }
TEST_P(GpuNestedReduce, IsRightForSixteenMillionElements) { expect_right(1 << 24, 1024); }

INSTANTIATE_TEST_SUITE_P(Steps, GpuNestedReduce,
                         ::testing::Values(std::pair{"nested", "tail"}, std::pair{"nested", "fire_and_forget"},
                                           std::pair{"nested_nosync", "tail"}, std::pair{"nested2", "tail"},
                                           std::pair{"flat", "tail"}),
                         [](const auto& of) { return std::string(of.param.first) + '_' + of.param.second; });

using GpuNestedHello = GpuNesting;

TEST_F(GpuNestedHello, GreetsDepthByDepth) {
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

class GpuDeviceLaunches : public GpuNesting {
 protected:
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

class GpuKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu_.backend) GTEST_SKIP() << gpu_.why_not;
  }

  const testing::Subject gpu_ = testing::subject();
};

using GpuKernelsWithOptions = GpuKernels;

TEST_F(GpuKernelsWithOptions, AreRightWithAnyRegistersBlocksAndArithmetic) {
  const KernelSpec spec = read_kernel_file(TUNER_SOURCE_DIR "/examples/gallery/coulomb.cu");
  testing::Picker picker(11);
  for (const char* type : {"float", "double"}) {
    const ProblemSize size = complete(spec, {{{"n", 20011}, {"m", 257}}, {{"T", type}}});
    testing::expect_right(*gpu_.backend, spec, size, picker.pick(spec, size, gpu_.backend->device().limits, 48));
  }
  EXPECT_THAT(picker.never_used(spec.space), IsEmpty());
}

TEST_F(GpuKernelsWithOptions, ShowTheBranchesOfTheSourceWithoutOptimisation) {
  const KernelSpec spec = testing::built_in("warpDivergence");
  MeasureOptions options = testing::verify_only();
  options.metrics = {"branch_efficiency"};
  options.metrics_for_all = true;
  const auto efficiency = [&](const char* variant) {
    const Configuration configuration = testing::default_with(spec, std::string("unroll=1 variant=") + variant);
    SingleRun one(*gpu_.backend, spec, {{{"n", 1 << 16}, {"work", 1}}, {{"optimised", "no"}}}, configuration, options);
    const Trial trial = one.measure();
    const Measurement* const measured = trial.measurement();
    if (measured == nullptr) throw Error(std::string(message(trial.outcome)));
    EXPECT_TRUE(trial.verified) << variant;
    const auto at = measured->metrics.find("branch_efficiency");
    return at == measured->metrics.end() ? -1 : at->second;
  };
  const double by_warp = efficiency("by_warp");
  if (by_warp < 0) GTEST_SKIP() << "nothing can count here";
  const double by_thread = efficiency("by_thread"), two_conditions = efficiency("two_conditions");
  EXPECT_GT(by_warp, by_thread);
  EXPECT_GT(by_thread, two_conditions);
}

class GpuGalleryOfHopper : public GpuKernels {
 protected:
  void SetUp() override {
    GpuKernels::SetUp();
    if (!IsSkipped() && gpu_.backend->device().limits.compute_capability != 90)
      GTEST_SKIP() << "these kernels are for compute capability 9.0";
  }

  /// A sample of the configurations of a file is right, on each of \p problems and on the file's own.
  void expect_right(const char* file, std::size_t count, std::initializer_list<ProblemSize> problems) const {
    const KernelSpec spec = read_kernel_file(std::string(TUNER_SOURCE_DIR "/examples/gallery/") + file);
    testing::Picker picker(12);
    for (const ProblemSize& problem : problems) {
      const ProblemSize size = complete(spec, problem);
      testing::expect_right(*gpu_.backend, spec, size, picker.pick(spec, size, gpu_.backend->device().limits, count));
    }
  }
};

TEST_F(GpuGalleryOfHopper, MultipliesMatricesOfThreeTypes) {
  for (const char* type : {"bfloat16", "half", "e4m3"})
    expect_right("tensorGemm.cu", 8, {{{{"m", 300}, {"n", 520}, {"k", 1040}}, {{"T", type}}}});
}
TEST_F(GpuGalleryOfHopper, ComputesAttention) { expect_right("attention.cu", 8, {{{{"heads", 2}, {"n", 700}}, {}}}); }
TEST_F(GpuGalleryOfHopper, SharesLongRowsInClusters) {
  expect_right("longRowSoftmax.cu", 8, {{{{"rows", 3}, {"columns", 30000}}, {}}});
}

struct Race {
  const char* tail;
  const char* mistake;
  const char* outcome;
};

void PrintTo(const Race& race, std::ostream* out) { *out << race.tail << ' ' << race.mistake; }

class GpuRaces : public GpuKernels, public ::testing::WithParamInterface<Race> {};

// The volatile tail is not among them: it is right where lanes run in step.
TEST_P(GpuRaces, ComeOutAsTheyWereMadeTo) {
  if (GetParam().mistake != std::string_view("none") && gpu_.backend->device().limits.compute_capability != 90)
    GTEST_SKIP() << "what a race comes to was seen for compute capability 9.0 only";
  const KernelSpec spec = read_kernel_file(TUNER_SOURCE_DIR "/examples/races.cu");
  const Configuration configuration =
      testing::default_with(spec, std::string("tail=") + GetParam().tail + " mistake=" + GetParam().mistake);
  SingleRun one(*gpu_.backend, spec, {{{"rows", 2048}}, {}}, configuration, testing::verify_only());
  const Trial trial = one.measure();
  EXPECT_EQ(kind(trial.outcome), GetParam().outcome) << message(trial.outcome);
}

INSTANTIATE_TEST_SUITE_P(Each, GpuRaces,
                         ::testing::Values(Race{"tree", "none", "ok"}, Race{"branches", "none", "ok"},
                                           Race{"tree", "no_barrier", "wrong"}, Race{"branches", "no_barrier", "wrong"},
                                           Race{"tree", "no_syncwarp", "wrong"},
                                           Race{"branches", "no_syncwarp", "wrong"}),
                         [](const auto& race) { return std::string(race.param.tail) + '_' + race.param.mistake; });

class GpuGridSync : public GpuKernels {
 protected:
  Configuration configuration(const std::string& tail, const std::string& more) const {
    return testing::default_with(spec_, "finish=grid_sync tail=" + tail + ' ' + more);
  }

  void expect_right(std::int64_t n, const char* type, const Configuration& wanted) {
    testing::expect_right(*gpu_.backend, spec_, complete(spec_, {{{"n", n}}, {{"T", type}}}), {wanted});
  }

  const KernelSpec spec_ = testing::built_in("blockReduce");
};

TEST_F(GpuGridSync, IsRightForEverySizeAndTail) {
  for (const char* const tail : {"barrier", "syncwarp", "shuffle_down", "shuffle_xor", "tile", "thread_group"})
    for (const std::int64_t n : {0, 1, 33, 4097, 100003})
      expect_right(n, "float", configuration(tail, "threads=128 grid_blocks=1024"));
}

TEST_F(GpuGridSync, IsRightForEveryTypeAndForMillions) {
  for (const char* const type : {"int", "float", "double"})
    expect_right(10'000'019, type, configuration("tile", "threads=256 grid_blocks=256"));
}

class GpuClusters : public GpuKernels {
 protected:
  void SetUp() override {
    GpuKernels::SetUp();
    if (!IsSkipped() && gpu_.backend->device().limits.compute_capability < 90)
      GTEST_SKIP() << "needs compute capability 9.0";
  }
  const KernelSpec spec_ = read_kernel_file(TUNER_SOURCE_DIR "/examples/cluster_sum.cu");
};

TEST_F(GpuClusters, GiveTheRightSumInEveryWidthWithAndWithoutOverlap) {
  std::vector<Configuration> all;
  for (const char* width : {"1", "2", "8", "16"})
    for (const char* overlap : {"true", "false"})
      all.push_back(testing::default_with(spec_, std::string("width=") + width + " overlap=" + overlap));
  for (const std::int64_t n : {0, 1, 1'000'003})
    testing::expect_right(*gpu_.backend, spec_, complete(spec_, {{{"n", n}}, {}}), all);
}

TEST_F(GpuClusters, AreCountedForTheOccupancyOfALaunch) {
  const SingleRun one(*gpu_.backend, spec_, {}, testing::default_with(spec_, "width=8"), testing::verify_only());
  const LaunchDetail& launch = one.launches().at(0);
  EXPECT_EQ(launch.shape.blocks_per_cluster(), 8);
  EXPECT_GT(launch.clusters, 0);
  EXPECT_GT(launch.resources.occupancy, 0);
  ASSERT_TRUE(launch.occupancy);
  EXPECT_LE(launch.resources.occupancy, launch.occupancy->fraction);
}

class WildKernelOnAGpu : public GpuKernels, public ::testing::WithParamInterface<const char*> {};

TEST_P(WildKernelOnAGpu, IsRight) {
  const KernelSpec spec = testing::wild_kernel(GetParam());
  const ProblemSize size = complete(spec, {});
  testing::Picker picker(11);
  testing::expect_right(*gpu_.backend, spec, size, picker.pick(spec, size, gpu_.backend->device().limits, 4));
}

INSTANTIATE_TEST_SUITE_P(Each, WildKernelOnAGpu, ::testing::ValuesIn(testing::kWildKernels),
                         [](const auto& path) { return std::string(path.param); });

}  // namespace
}  // namespace tuner
