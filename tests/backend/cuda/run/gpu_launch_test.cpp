#include <algorithm>

#include <tests/support/captured_graph.hpp>
#include <tests/support/gpu_fixture.hpp>

#include <tuner/backend/cuda/compile/nvrtc_compiler.hpp>
#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/backend/cuda/run/cuda_module.hpp>
#include <tuner/backend/element_value.hpp>
#include <tuner/core/device/launch_shape.hpp>

namespace tuner::cuda {
namespace {

class GpuLaunch : public GpuTest {};

constexpr const char* kKernels = R"(
template <typename T> __global__ void axpy(T a, const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void reverse(int* data) {  // one block, staged in dynamic shared memory
  extern __shared__ int staged[];
  staged[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(128) small(int* data) { data[threadIdx.x] = 1; }
__global__ void crowded(float* data, int n) {
  float a[150];
#pragma unroll
  for (int i = 0; i < 150; ++i) a[i] = data[i * 7];
  for (int j = 0; j < n; ++j) {
#pragma unroll
    for (int i = 0; i < 150; ++i) a[i] = a[i] * a[(i * 31 + 7) % 150] + data[j + i];
  }
#pragma unroll
  for (int i = 0; i < 150; ++i) data[i * 7] = a[i];
}
)";

TEST_F(GpuLaunch, RunsLaunchesInOrder) {
  const auto module = load(kKernels, {"axpy<float>", "axpy<double>"});
  constexpr int kCount = 1000;
  const auto x = backend().allocate(kCount * 4), y = backend().allocate(kCount * 4);
  backend().fill(x->address(), ElementType::float32, kCount, {Fill::Kind::iota, 0, 0}, 0);
  backend().fill(y->address(), ElementType::float32, kCount, {Fill::Kind::constant, 1, 0}, 0);
  const Launch step =
      launch(*module, 0, 4, 256,
             {Argument::of(2.0f), Argument::of(x->address()), Argument::of(y->address()), Argument::of(kCount)});
  const Launch steps[] = {step, step};
  EXPECT_EQ(failure(backend().run(steps, 10)), "ok");
  const auto result = contents<float>(y->address(), kCount);
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(result[static_cast<std::size_t>(i)], 1 + 4 * i);
}

// By the conversions of cuda_fp8.h, cuda_fp6.h and cuda_fp4.h, as far as the toolkit has them.
TEST_F(GpuLaunch, ConvertsToSmallTypesAsFillsDo) {
  const bool has_all = nvrtc().version >= 12080;
  std::vector<ElementType> types{ElementType::e4m3, ElementType::e5m2};
  if (has_all) types.insert(types.end(), {ElementType::e3m2, ElementType::e2m3, ElementType::e2m1, ElementType::e8m0});
  std::vector<std::string> functions;
  for (const char* const name : {"narrow<", "widen<"})
    for (const ElementType type : types) functions.push_back(name + std::string(info(type).spelling) + '>');
  const auto module = load(std::string(has_all ? "#include <cuda_fp4.h>" : "#include <cuda_fp8.h>") + R"(
template <typename T>
__global__ void narrow(const float* from, T* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = T(from[i]);
}
template <typename T>
__global__ void widen(const T* from, float* to) { to[threadIdx.x] = static_cast<float>(from[threadIdx.x]); }
)",
                           functions);
  constexpr int kCount = 1 << 16;
  const auto wide = backend().allocate(kCount * 4), narrow = backend().allocate(kCount);
  std::vector<unsigned char> all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<unsigned char>(i);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const ElementType type = types[i];
    for (const double high : {0x1p-13, 0.01, 1.0, 500.0, 1e5}) {  // below every normal number, to beyond all numbers
      const Fill fill{Fill::Kind::uniform, -high, high};
      backend().fill(wide->address(), ElementType::float32, kCount, fill, 7);
      const Launch to_narrow =
          launch(*module, i, kCount / 256, 256, {Argument::of(wide->address()), Argument::of(narrow->address())});
      EXPECT_EQ(run(to_narrow), "ok");
      const auto converted = contents<unsigned char>(narrow->address(), kCount);
      backend().fill(narrow->address(), type, kCount, fill, 7);
      const auto filled = contents<unsigned char>(narrow->address(), kCount);
      const auto differs = std::mismatch(filled.begin(), filled.end(), converted.begin());
      EXPECT_EQ(differs.first, filled.end()) << info(type).name << ' ' << high << ": " << int{*differs.first} << " and "
                                             << int{*differs.second} << " at " << differs.first - filled.begin();
    }
    backend().upload(narrow->address(), all.data(), all.size());
    const Launch to_wide =
        launch(*module, types.size() + i, 1, 256, {Argument::of(narrow->address()), Argument::of(wide->address())});
    EXPECT_EQ(run(to_wide), "ok");
    const auto values = contents<float>(wide->address(), 256);
    const unsigned most = type == ElementType::e2m1 ? 16 : info(type).spelling.starts_with("__nv_fp6") ? 64 : 256;
    for (unsigned bits = 0; bits < most; ++bits) {
      const float wanted = with_type(
          type, [&](auto zero) { return static_cast<float>(number(element_at<decltype(zero)>(all.data(), bits))); });
      const bool both_nan = wanted != wanted && values[bits] != values[bits];
      EXPECT_TRUE(both_nan || values[bits] == wanted) << info(type).name << ' ' << bits;
    }
  }
}

TEST_F(GpuLaunch, OptsInToMoreThan48KilobytesOfSharedMemory) {
  const auto module = load(kKernels, {"reverse"});
  const auto data = backend().allocate(1024 * 4);
  backend().fill(data->address(), ElementType::int32, 1024, {Fill::Kind::iota, 0, 0}, 0);
  const std::int64_t most = backend().device().limits.max_shared_bytes;
  const Launch large = launch(*module, 0, 1, 1024, {Argument::of(data->address())}, most);
  EXPECT_EQ(run(large), "ok");
  EXPECT_EQ(contents<int>(data->address(), 1)[0], 1023);
  const Launch larger = launch(*module, 0, 1, 1024, {Argument::of(data->address())}, most + 1);
  EXPECT_THAT(run(larger), HasSubstr("launch: "));
  EXPECT_TRUE(backend().usable());
}

TEST_F(GpuLaunch, ReportsImpossibleLaunchesWithoutStartingThem) {
  const auto module = load(kKernels, {"small", "crowded"});
  const auto data = backend().allocate(1 << 16);
  struct Row {
    std::size_t function;
    std::int64_t threads;
    const char* part;
  };
  const Row rows[] = {{0, 2048, "1024"}, {0, 256, "limit of 128"}, {1, 1024, "registers"}, {0, 0, ""}};
  for (const Row& row : rows) {
    const Launch wrong =
        launch(*module, row.function, 1, row.threads, {Argument::of(data->address()), Argument::of(0)});
    EXPECT_THAT(run(wrong), AllOf(StartsWith("launch: "), HasSubstr(row.part)));
    const SampleResult sampled = backend().sample({&wrong, 1}, {});
    EXPECT_TRUE(std::holds_alternative<LaunchError>(sampled));
  }
  EXPECT_TRUE(backend().usable());
}

TEST_F(GpuLaunch, ReportsAnImageOfAnotherArchitecture) {
  const std::string other = backend().architecture() == "sm_80" ? "sm_90" : "sm_80";
  const CompileResult compiled = backend().compiler().compile({kKernels, "test.cu", {"small"}, {}, other});
  if (backend().device().limits.compute_capability / 10 == 8) GTEST_SKIP() << "code of the same major version runs";
  const auto loaded = backend().load(std::get<Image>(compiled));
  ASSERT_TRUE(std::holds_alternative<LaunchError>(loaded));
  EXPECT_THAT(std::get<LaunchError>(loaded).message, HasSubstr("does not load"));
  Image broken;
  broken.code.resize(1000);
  EXPECT_TRUE(std::holds_alternative<LaunchError>(backend().load(broken)));
  EXPECT_TRUE(backend().usable());
}

TEST_F(GpuLaunch, RunsInstructionsOfItsChipAlone) {
  const int capability = backend().device().limits.compute_capability;
  if (capability != 90) GTEST_SKIP() << "only Hopper has wgmma";
  const auto module = load(R"(
    __global__ void more(int* data) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      data[threadIdx.x] = threadIdx.x;
    })",
                           {"more"});
  const auto data = backend().allocate(128 * 4);
  const Launch ready = launch(*module, 0, 1, 128, {Argument::of(data->address())});
  EXPECT_EQ(run(ready), "ok");
  EXPECT_EQ(contents<int>(data->address(), 128)[127], 127);
  EXPECT_EQ(module->resources(0, ready.shape).target, "sm_90a");
}

TEST_F(GpuLaunch, CalculatesTheOccupancyThatTheDriverDoes) {
  const Context context = Context::primary(0);
  const ContextGuard guard(context.handle());
  const std::unique_ptr<Compiler> compiler = make_nvrtc_compiler(nvrtc());
  const CompileResult compiled =
      compiler->compile({kKernels, "test.cu", {"axpy<float>", "reverse", "crowded"}, {}, backend().architecture()});
  const Image& image = std::get<Image>(compiled);
  const UniqueModule module = load_module(image.code.data());
  const DeviceLimits& limits = backend().device().limits;
  int different = 0;
  for (const CompiledFunction& compiled_function : image.functions) {
    const KernelFunction kernel = get_function(module.get(), compiled_function.symbol);
    EXPECT_EQ(kernel.resources.registers, compiled_function.resources.registers) << compiled_function.symbol;
    allow_shared_memory(kernel, limits.max_shared_bytes, limits);
    for (int threads = 1; threads <= kernel.max_threads_per_block; threads += 31) {
      for (std::int64_t shared = 0; shared <= limits.max_shared_bytes; shared += 1777) {
        int blocks = -1;
        check(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.handle, threads,
                                                                   static_cast<std::size_t>(shared)),
              "cuOccupancyMaxActiveBlocksPerMultiprocessor");
        const int ours = occupancy(limits, threads, kernel.resources.registers, shared).blocks_per_sm;
        if (ours != blocks && different++ == 0) {
          ADD_FAILURE() << compiled_function.symbol << ": " << threads << " threads, " << shared << " bytes: " << ours
                        << " instead of " << blocks;
        }
      }
    }
  }
  EXPECT_EQ(different, 0);
}

TEST_F(GpuLaunch, TellsResourcesWithOccupancy) {
  const auto module = load(kKernels, {"axpy<float>"});
  LaunchShape shape;
  shape.block[0] = 256;
  const Resources resources = module->resources(0, shape);
  EXPECT_GT(resources.registers, 0);
  EXPECT_GT(resources.blocks_per_sm, 0);
  EXPECT_GT(resources.occupancy, 0);
  EXPECT_LE(resources.occupancy, 1);
}

TEST_F(GpuLaunch, EnqueuesOnTheCallersStream) {
  const auto module = load(kKernels, {"axpy<float>"});
  const auto x = uploaded(std::vector<float>{1}), y = uploaded(std::vector<float>{1});
  const float scale = 3;
  const Context context = Context::primary(0);
  const ContextGuard guard(context.handle());
  const UniqueStream stream = make_stream();
  const DevicePointer px = x->address(), py = y->address();
  const int count = 1;
  void* parameters[] = {const_cast<float*>(&scale), const_cast<DevicePointer*>(&px), const_cast<DevicePointer*>(&py),
                        const_cast<int*>(&count)};
  backend().enqueue(*module, 0, LaunchShape{}, parameters, stream.get());
  backend().synchronize(stream.get());
  EXPECT_EQ(contents<float>(py, 1)[0], 4);
  backend().enqueue(*module, 0, LaunchShape{}, parameters, nullptr);
  backend().synchronize(nullptr);
  EXPECT_EQ(contents<float>(py, 1)[0], 7);
}

// Block b waits for all blocks and takes the result of the next block.
constexpr const char* kMeeting = R"(
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
__global__ void meet(int* from, int* to) {
  __shared__ char taken[20000];
  if (threadIdx.x == 0) from[blockIdx.x] = blockIdx.x + 1;
  taken[threadIdx.x] = 0;
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) to[blockIdx.x] = from[(blockIdx.x + 1) % gridDim.x] + taken[0];
}
)";

class GpuCooperativeLaunch : public GpuTest {
 protected:
  Launch all_resident(std::int64_t more = 0) {
    module_ = load(kMeeting, {"meet"});
    LaunchShape shape;
    shape.block[0] = 64;
    shape.cooperative = true;
    shape.grid[0] = module_->resources(0, shape).blocks_per_sm * backend().device().limits.sm_count + more;
    from_ = backend().allocate(static_cast<std::size_t>(shape.grid[0]) * 4);
    to_ = backend().allocate(static_cast<std::size_t>(shape.grid[0]) * 4);
    backend().fill_bytes(to_->address(), 0, to_->bytes());
    return {module_.get(), 0, shape, {Argument::of(from_->address()), Argument::of(to_->address())}};
  }
  void expect_met(const Launch& launch) {
    const auto blocks = static_cast<std::size_t>(launch.shape.grid[0]);
    const std::vector<int> seen = contents<int>(to_->address(), blocks);
    for (std::size_t b = 0; b < blocks; ++b) ASSERT_EQ(seen[b], static_cast<int>((b + 1) % blocks) + 1);
  }

  std::unique_ptr<Module> module_;
  std::unique_ptr<DeviceMemory> from_, to_;
};

TEST_F(GpuCooperativeLaunch, MeetsAsALargeGridAsIsResident) {
  const Launch ready = all_resident();
  EXPECT_EQ(run(ready), "ok");
  expect_met(ready);
}

TEST_F(GpuCooperativeLaunch, IsSampledColdAndHot) {
  const Launch ready = all_resident();
  for (const bool cold : {true, false}) {
    SampleRequest request;
    request.samples = 20;
    request.batch = cold ? 1 : 10;
    request.use = cold ? Use::single : Use::hot;
    request.timeout_s = 10;
    const SampleResult sampled = backend().sample({&ready, 1}, request);
    const auto* const samples = std::get_if<std::vector<Sample>>(&sampled);
    ASSERT_NE(samples, nullptr);
    EXPECT_EQ(samples->size(), 20u);
    for (const Sample& sample : *samples) EXPECT_GT(sample.ns, 0);
  }
  expect_met(ready);
}

TEST_F(GpuCooperativeLaunch, IsCountedAndWeighedWhereThereAreCountersAndASensor) {
  const Launch ready = all_resident();
  EXPECT_EQ(run(ready), "ok");
  const EnergyResult energy = backend().energy({&ready, 1}, kShortestEnergyWindow);
  if (const auto* const measured = std::get_if<Energy>(&energy)) {
    EXPECT_GT(measured->joules, 0);
  }
  CountRequest request;
  request.metrics = {"gst_transactions"};
  const CountResult counted = backend().collect({&ready, 1}, request);
  if (const auto* const metrics = std::get_if<Metrics>(&counted)) {
    EXPECT_GE(metrics->at("gst_transactions"), 2 * ready.shape.blocks());
  }
  EXPECT_TRUE(backend().usable());
  expect_met(ready);
  if (const auto* const why = std::get_if<Unavailable>(&counted)) GTEST_SKIP() << why->reason;
  if (const auto* const why = std::get_if<Unavailable>(&energy)) GTEST_SKIP() << why->reason;
}

TEST_F(GpuCooperativeLaunch, IsRefusedWithOneBlockMore) {
  const Launch ready = all_resident(1);
  EXPECT_THAT(run(ready), StartsWith("launch: a cooperative grid of "));
  EXPECT_TRUE(backend().usable());
  const Context context = Context::primary(0);
  const ContextGuard guard(context.handle());
  const DevicePointer from = from_->address(), to = to_->address();
  void* parameters[] = {const_cast<DevicePointer*>(&from), const_cast<DevicePointer*>(&to)};
  EXPECT_THAT(error_of([&] { backend().enqueue(*module_, 0, ready.shape, parameters, nullptr); }),
              HasSubstr("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"));
  EXPECT_TRUE(backend().usable());
}

TEST_F(GpuCooperativeLaunch, IsCapturedIntoAGraph) {
  if (!driver().cuStreamBeginCapture || !driver().cuGraphInstantiateWithFlags)
    GTEST_SKIP() << "this driver has no graph capture";
  const Launch ready = all_resident();
  const Context context = Context::primary(0);
  const ContextGuard guard(context.handle());
  const UniqueStream stream = make_stream();
  const DevicePointer from = from_->address(), to = to_->address();
  void* parameters[] = {const_cast<DevicePointer*>(&from), const_cast<DevicePointer*>(&to)};
  testing::CapturedGraph graph(stream.get(),
                               [&] { backend().enqueue(*module_, 0, ready.shape, parameters, stream.get()); });
  for (int i = 0; i < 3; ++i) graph.launch(stream.get());
  backend().synchronize(stream.get());
  expect_met(ready);
}

}  // namespace
}  // namespace tuner::cuda
