#include <tests/support/captured_graph.hpp>
#include <tests/support/gpu_fixture.hpp>

#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/core/device/launch_shape.hpp>

namespace tuner::cuda {
namespace {

// Each block writes the number that the next block of its cluster has in its shared memory.
constexpr const char* kNeighbours = R"(
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
__device__ void pass(int* to) {
  __shared__ int mine;
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) mine = 100 + blockIdx.x;
  cluster.sync();
  const int* const next = cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
  if (threadIdx.x == 0) to[blockIdx.x] = *next;
  cluster.sync();
}
__global__ void neighbours(int* to) { pass(to); }
__global__ void __cluster_dims__(2, 1, 1) pairs(int* to) { pass(to); }
__global__ void meet(int* to) {
  pass(to);
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) to[blockIdx.x] += 1000;
}
)";

// The first kernel lets the second begin at once, and writes its data late.
constexpr const char* kOverlapping = R"(
__device__ unsigned long long now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
__global__ void first(int* data, unsigned long long* times) {
  cudaTriggerProgrammaticLaunchCompletion();
  const unsigned long long begin = now();
  while (now() < begin + 3000000) {}
  data[threadIdx.x] += 1;
  if (threadIdx.x == 0) times[0] = now();
}
__global__ void second(const int* data, int* to, unsigned long long* times) {
  if (threadIdx.x == 0) times[1] = now();
  cudaGridDependencySynchronize();
  to[threadIdx.x] = 10 * data[threadIdx.x];
}
)";

class GpuAttributes : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && backend().device().limits.compute_capability < 90)
      GTEST_SKIP() << "needs compute capability 9.0";
  }

  Launch clusters(std::size_t function, std::int64_t blocks, std::int64_t width) {
    if (module_ == nullptr) module_ = load(kNeighbours, {"neighbours", "pairs", "meet"});
    to_ = uploaded(std::vector<int>(static_cast<std::size_t>(blocks), -1));
    Launch ready = launch(*module_, function, blocks, 64, {Argument::of(to_->address())});
    ready.shape.cluster[0] = width;
    return ready;
  }
  /// In clusters of \p width blocks.
  void expect_passed(int blocks, int width, int more = 0) {
    const std::vector<int> seen = contents<int>(to_->address(), static_cast<std::size_t>(blocks));
    for (int b = 0; b < blocks; ++b)
      ASSERT_EQ(seen[static_cast<std::size_t>(b)], 100 + more + b / width * width + (b + 1) % width) << b;
  }

  std::unique_ptr<Module> module_;
  std::unique_ptr<DeviceMemory> to_;
};

TEST_F(GpuAttributes, BlocksOfAClusterReadEachOthersSharedMemory) {
  for (const int width : {1, 2, 8, 16}) {
    const Launch ready = clusters(0, 64, width);
    if (width > 1) {
      const auto resident = module_->resident_clusters(0, ready.shape);
      ASSERT_TRUE(resident);
      if (*resident == 0) continue;  // no clusters of 16 here
    }
    EXPECT_EQ(run(ready), "ok") << width;
    expect_passed(64, width);
  }
}

TEST_F(GpuAttributes, AGridOfOtherClustersIsRefusedBeforeTheDriverIsAsked) {
  EXPECT_EQ(run(clusters(0, 9, 2)),
            "launch: grid of 9x1x1 does not consist of clusters of 2x1x1: its extent in x is not a multiple of 2");
  EXPECT_THAT(run(clusters(0, 34, 17)), HasSubstr("exceeds the limit of 16"));
  EXPECT_TRUE(backend().usable());
}

TEST_F(GpuAttributes, ACompiledClusterNeedsNoOtherAndAllowsNoOther) {
  Launch ready = clusters(1, 8, 1);
  EXPECT_EQ(module_->compiled_cluster(1), (std::array<std::int64_t, 3>{2, 1, 1}));
  EXPECT_EQ(module_->compiled_cluster(0), (std::array<std::int64_t, 3>{}));
  EXPECT_EQ(run(ready), "ok");
  expect_passed(8, 2);
  ready = clusters(1, 8, 2);
  EXPECT_EQ(run(ready), "ok");
  expect_passed(8, 2);
  EXPECT_THAT(run(clusters(1, 8, 4)), HasSubstr("its kernel is compiled for one of 2x1x1"));
  EXPECT_THAT(run(clusters(1, 9, 1)), HasSubstr("grid of 9x1x1 does not consist of clusters of 2x1x1"));
  EXPECT_TRUE(backend().usable());
}

TEST_F(GpuAttributes, OccupancyCountsTheClustersThatTheDeviceHolds) {
  const Launch alone = clusters(0, 64, 1);
  const Launch wide = clusters(0, 64, 8);
  const Resources of_blocks = module_->resources(0, alone.shape), of_clusters = module_->resources(0, wide.shape);
  const std::int64_t resident = 8 * *module_->resident_clusters(0, wide.shape);
  const int sms = backend().device().limits.sm_count;
  EXPECT_GT(resident, 0);
  EXPECT_LE(resident, std::int64_t{of_blocks.blocks_per_sm} * sms);
  EXPECT_NEAR(of_clusters.occupancy * of_blocks.blocks_per_sm * sms,
              of_blocks.occupancy * static_cast<double>(resident), 1e-6);
  EXPECT_EQ(module_->resident_clusters(0, alone.shape), std::nullopt);
}

TEST_F(GpuAttributes, ACooperativeGridMayHaveClusters) {
  Launch ready = clusters(2, 64, 4);
  ready.shape.cooperative = true;
  EXPECT_EQ(run(ready), "ok");
  expect_passed(64, 4, 1000);
}

TEST_F(GpuAttributes, AnyShareOfSharedMemoryGivesTheSameResult) {
  for (const int share : {0, 50, 100}) {
    Launch ready = clusters(0, 64, 2);
    ready.shape.carveout = share;
    EXPECT_EQ(run(ready), "ok");
    expect_passed(64, 2);
  }
}

class GpuDependentLaunch : public GpuAttributes {
 protected:
  std::vector<Launch> both(bool dependent) {
    module_ = load(kOverlapping, {"first", "second"});
    data_ = uploaded(std::vector<int>(32, 0));
    to_ = uploaded(std::vector<int>(32, -1));
    times_ = uploaded(std::vector<unsigned long long>(2, 0));
    std::vector<Launch> launches{
        launch(*module_, 0, 1, 32, {Argument::of(data_->address()), Argument::of(times_->address())}),
        launch(*module_, 1, 1, 32,
               {Argument::of(data_->address()), Argument::of(to_->address()), Argument::of(times_->address())})};
    launches[1].shape.dependent = dependent;
    return launches;
  }
  void expect_result(int runs) { EXPECT_EQ(contents<int>(to_->address(), 32), std::vector<int>(32, 10 * runs)); }
  /// Whether the second launch began before the first one had ended.
  bool have_overlapped() {
    const auto times = contents<unsigned long long>(times_->address(), 2);
    return times[1] < times[0];
  }

  std::unique_ptr<DeviceMemory> data_, times_;
};

TEST_F(GpuDependentLaunch, BeginsEarlyAndWaitsForItsData) {
  for (const bool dependent : {false, true}) {
    const std::vector<Launch> launches = both(dependent);
    EXPECT_EQ(failure(backend().run(launches, 10)), "ok");
    EXPECT_EQ(failure(backend().run(launches, 10)), "ok") << "loaded before, so that nothing delays the second";
    expect_result(2);
    if (!dependent) {  // the attribute permits an overlap, and promises none
      EXPECT_FALSE(have_overlapped());
    }
  }
}

TEST_F(GpuDependentLaunch, IsSampled) {
  const std::vector<Launch> launches = both(true);
  SampleRequest request;
  request.samples = 5;
  request.use = Use::hot;
  request.batch = 2;
  request.timeout_s = 10;
  const SampleResult sampled = backend().sample(launches, request);
  ASSERT_TRUE(std::holds_alternative<std::vector<Sample>>(sampled));
  for (const Sample& sample : std::get<std::vector<Sample>>(sampled)) EXPECT_GT(sample.ns, 0);
}

TEST_F(GpuDependentLaunch, IsSampledInAGraph) {
  const std::vector<Launch> launches = both(true);
  EXPECT_EQ(failure(backend().run(launches, 10)), "ok");
  SampleRequest request;
  request.samples = 5;
  request.use = Use::graph;
  request.batch = 20;
  request.timeout_s = 10;
  const SampleResult sampled = backend().sample(launches, request);
  ASSERT_TRUE(std::holds_alternative<std::vector<Sample>>(sampled)) << std::get<LaunchError>(sampled).message;
  for (const Sample& sample : std::get<std::vector<Sample>>(sampled)) EXPECT_GT(sample.ns, 0);
  expect_result(1 + (5 + 1) * 20);
}

TEST_F(GpuDependentLaunch, IsCapturedIntoAGraph) {
  if (!driver().cuStreamBeginCapture || !driver().cuGraphInstantiateWithFlags)
    GTEST_SKIP() << "this driver has no graph capture";
  const std::vector<Launch> launches = both(true);
  EXPECT_EQ(failure(backend().run(launches, 10)), "ok");
  const Context context = Context::primary(0);
  const ContextGuard guard(context.handle());
  const UniqueStream stream = make_stream();
  testing::CapturedGraph graph(stream.get(), [&] {
    for (const Launch& one : launches) {
      std::vector<void*> parameters;
      for (const Argument& argument : one.arguments) parameters.push_back(const_cast<std::byte*>(argument.data()));
      backend().enqueue(*one.module, one.function, one.shape, parameters.data(), stream.get());
    }
  });
  for (int i = 0; i < 3; ++i) graph.launch(stream.get());
  backend().synchronize(stream.get());
  expect_result(4);
}

}  // namespace
}  // namespace tuner::cuda
