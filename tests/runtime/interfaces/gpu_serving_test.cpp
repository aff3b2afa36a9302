#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <random>
#include <thread>

#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/backend/cuda/driver/discovery.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/backend/gpu.hpp>
#include <tuner/backend/work_space.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/error.hpp>
#include <tuner/recording/launch_recording.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/tuner.hpp>

#include <tests/support/captured_graph.hpp>
#include <tests/support/in_threads.hpp>
#include <tests/support/tile_kernel.hpp>

#include <tests/runtime/kernels.hpp>
#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

using Graph = testing::CapturedGraph;

/// Before anything of the process asks; no other test has kernels of such a name.
const int recording_is_asked_for = ::setenv("TUNER_RECORD", "addRecorded", 1);

/// The context that the library serves in is current as long as the guard lives.
cuda::ContextGuard make_current() {
  return cuda::ContextGuard(reinterpret_cast<CUcontext>(primary_gpu_context(0).handle));
}

int served_compute_capability() {
  int major = 0;
  cuda::check(cuda::driver().cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
              "cuDeviceGetAttribute");
  return 10 * major;
}

void wait_for(const cuda::UniqueStream& stream) {
  cuda::check(cuda::driver().cuStreamSynchronize(stream.get()), "cuStreamSynchronize");
}

class GpuServing : public testing::ServingEnvironment {
 protected:
  explicit GpuServing(const char* tune = "never") : ServingEnvironment("auto", tune) {}
  void SetUp() override {
    const std::string none = why_no_gpu();
    if (!none.empty()) GTEST_SKIP() << "needs a GPU: " << none;
  }
};

template <typename T>
std::vector<T> random_values(std::size_t n, int low, int high) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> value(low, high);
  std::vector<T> values(n);
  for (T& v : values) v = static_cast<T>(value(random));
  return values;
}

Kernel adder(const std::string& name) {
  return testing::kernel_of_blocks(name, R"(#pragma tuner inout x[n] : int
#pragma tuner scalar shift : int = 1
#pragma tuner arguments x, shift, n
#pragma tuner instantiate add
#pragma tuner reference add
#pragma tuner default block=32
__global__ void add(int* x, int shift, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += shift;
}
)");
}

TEST_F(GpuServing, GivesACallTheTensorMapsOfItsPointersAndSizes) {
  if (cuda::query_device(0).limits.compute_capability < 90) GTEST_SKIP() << "no tensor maps before 9.0";
  const Kernel kernel = testing::kernel_named("servedTiles", testing::kCopyTiles);
  for (const std::size_t k : {388u, 384u}) {  // of one size class
    for (const int first : {1, 2, 1}) {
      std::vector<float> values(500 * k);
      std::iota(values.begin(), values.end(), static_cast<float>(first));
      const Array<float> x(values);
      Array<float> y(std::vector<float>(values.size(), 0));
      kernel.launch(nullptr, {500, k}, x.data(), y.data());
      EXPECT_EQ(y.to_vector(), values) << "k=" << k << " first=" << first;
    }
  }
  const Array<float> x(std::vector<float>(500 * 388));
  Array<float> y(std::vector<float>(500 * 388));
  EXPECT_THAT(error_of([&] {
                kernel.launch(nullptr, {500, 386}, x.data(), y.data());
              }),
              HasSubstr("its stride in dimension 1 has 1544 bytes, and must have a multiple of 16"));
}

template <typename T>
class GpuReduce : public GpuServing {};
using Types = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, int, unsigned, std::int64_t,
                               std::uint64_t, float, double>;
TYPED_TEST_SUITE(GpuReduce, Types);

TYPED_TEST(GpuReduce, GivesTheExactAnswerForAllOperationsSizesAndAlignments) {
  using T = TypeParam;
  using R = reduce_result_t<T>;
  for (const std::size_t n : {0u, 1u, 31u, 1000u, 4097u, 1'000'003u}) {
    const std::vector<T> values = random_values<T>(n + 3, 0, 7);
    const Array<T> device(values);
    for (const std::size_t shift : {0u, 1u, 3u}) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(shift),
                 end = begin + static_cast<std::ptrdiff_t>(n);
      EXPECT_EQ(reduce(device.data() + shift, n), std::accumulate(begin, end, R{0})) << "n=" << n << " shift=" << shift;
      if (n == 0) continue;
      EXPECT_EQ(reduce(device.data() + shift, n, Operation::min), R{*std::min_element(begin, end)});
      EXPECT_EQ(reduce(device.data() + shift, n, Operation::max), R{*std::max_element(begin, end)});
    }
  }
}

TEST_F(GpuServing, ReducesAsynchronouslyOnACallersStream) {
  const Array<int> values(std::vector<int>(100'000, 3));
  Array<int> sum(std::vector<int>{0});
  const cuda::UniqueStream stream = [] {
    const cuda::ContextGuard guard = make_current();
    return cuda::make_stream();
  }();
  const ReduceOptions options{Operation::sum, stream.get()};
  for (int i = 0; i < 10; ++i) reduce_async(values.data(), values.size(), sum.data(), options);
  wait_for(stream);
  EXPECT_EQ(sum.to_vector()[0], 300'000);
}

TEST_F(GpuServing, AddsMatricesInPlace) {
  const int nx = 1027, ny = 513;
  Array<float> a(std::vector<float>(nx * ny, 1.0f));
  const Array<float> b(std::vector<float>(nx * ny, 2.0f));
  sum_matrix_2d<float>(a.data(), b.data(), a.data(), nx, ny);
  EXPECT_THAT(a.to_vector(), Each(3.0f));
}

TEST_F(GpuServing, RefusesHostMemoryOnAFirstAndOnAWarmCallAndTheContextLivesOn) {
  const Array<int> device(std::vector<int>(100, 1));
  const std::vector<int> values(100, 1);
  for (int call = 0; call < 2; ++call) {
    EXPECT_THAT(error_of([&] { reduce(values.data(), values.size()); }), HasSubstr("host memory"));
    EXPECT_EQ(reduce(device.data(), 100), 100);
  }
}

TEST_F(GpuServing, ServesManyThreadsOnOneStreamAndOnOneForEachThread) {
  constexpr std::size_t n = 3'000'000;
  const Array<int> values(std::vector<int>(n, 1));
  for (CUstream_st* const stream : {static_cast<CUstream_st*>(nullptr), CU_STREAM_PER_THREAD}) {
    std::vector<int> wrong(8, 0);
    testing::in_threads(wrong.size(), [&](std::size_t t) {
      for (std::size_t i = 0; i < 100; ++i) {
        const std::size_t of = n - t * 1000 - i % 3;
        wrong[t] += reduce(values.data(), of, {Operation::sum, stream}) != static_cast<int>(of);
      }
    });
    EXPECT_THAT(wrong, Each(0));
  }
}

/// A reduction that shares its stream with others: enqueued many times without waiting, each time with its own result.
struct Sharing {
  std::string name;
  std::function<void()> clear, enqueue;
  std::function<std::size_t()> wrong;  ///< how many of the results; waits for them
};

template <typename T>
Sharing sharing(const std::string& finish, const std::string& operation, const Array<T>& x, T expected) {
  const std::vector<T> none(100);
  const auto y = std::make_shared<Array<T>>(none);
  const auto enqueue = [=, &x, kernel = testing::reduce_with(finish, operation)] {
    for (std::size_t i = 0; i < none.size(); ++i) kernel.launch(nullptr, {x.size()}, x.data(), y->data() + i);
  };
  const auto wrong = [=] {
    const std::vector<T> found = y->to_vector();
    return found.size() - static_cast<std::size_t>(std::count(found.begin(), found.end(), expected));
  };
  enqueue();  // every later call is warm
  EXPECT_EQ(wrong(), 0u) << finish << ' ' << operation << " alone";
  return {finish + ' ' + operation, [=] { *y = Array<T>(none); }, enqueue, wrong};
}

TEST_F(GpuServing, IsRightForTwoThreadsOnOneStreamWithEveryPairOfFinishesAndOperations) {
  constexpr int n = 300'000;
  std::vector<int> values(n, 1);
  values[5] = 8;
  values[n - 1] = -2;
  const Array<int> ints(values);
  const Array<float> floats(std::vector<float>(values.begin(), values.end()));
  std::vector<Sharing> all;
  all.push_back(sharing("counted", "sum", ints, n + 4));
  all.push_back(sharing("two_launches", "product", ints, -16));
  for (const char* const finish : testing::kFinishes) {
    if (finish == std::string("counted")) continue;
    all.push_back(sharing<float>(finish, "sum", floats, n + 4));
    all.push_back(sharing<float>(finish, "product", floats, -16));
    all.push_back(sharing<float>(finish, "min", floats, -2));
    all.push_back(sharing<float>(finish, "max", floats, 8));
  }
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      all[a].clear();
      all[b].clear();
      std::thread other(all[b].enqueue);
      all[a].enqueue();
      other.join();
      EXPECT_EQ(all[a].wrong() + all[b].wrong(), 0u) << all[a].name << " beside " << all[b].name;
    }
  }
}

TEST_F(GpuServing, IsCapturedOncePreparedAndRefusesOtherwiseWhichKeepsTheCaptureValid) {
  const Array<int> values(std::vector<int>(100'000, 2));
  Array<int> sum(std::vector<int>{0});
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream();
  if (!cuda::driver().cuStreamBeginCapture || !cuda::driver().cuGraphInstantiateWithFlags)
    GTEST_SKIP() << "this driver has no graph capture";
  const ReduceOptions options{Operation::sum, stream.get()};
  prepare_reduce(values.data(), 1000, options);
  Graph graph(stream.get(), [&] {
    EXPECT_THAT(error_of([&] { reduce_async(values.data(), 77'777, sum.data(), options); }), HasSubstr("prepare"));
    EXPECT_THAT(error_of([&] { (void)reduce(values.data(), 1000, options); }), HasSubstr("reduce_async"));
    reduce_async(values.data(), 1001, sum.data(), options);
  });
  for (int i = 0; i < 3; ++i) graph.launch(stream.get());
  wait_for(stream);
  EXPECT_EQ(sum.to_vector()[0], 2002);
}

TEST_F(GpuServing, TunesAndTimesAKernelBehindAnotherOneAndInAGraph) {
  const Kernel kernel = Kernel::from_file("reduce");
  const Size n = 1 << 14;
  for (const Use use : {Use::stream, Use::graph}) {
    TuneOptions tuning;
    tuning.trials = 4;
    tuning.isolated = true;
    tuning.use = use;
    const TuneResult tuned = tune(kernel, {n}, {{"T", "float"}}, tuning);
    EXPECT_EQ(tuned.trials, 4u);
    RunOptions running;
    running.use = use;
    const RunResult ran = run(kernel, {n}, {{"T", "float"}}, running);
    EXPECT_EQ(ran.configuration, tuned.configuration);
    EXPECT_TRUE(ran.verified);
    EXPECT_GT(ran.median_ns, 0);
    EXPECT_THAT(kernel.used_as(use).explain({n}, {{"T", "float"}}), HasSubstr(", timed as '"));
    std::cout << "[ measured ] reduce of 2^14 floats: " << ran.median_ns << " ns "
              << (use == Use::graph ? "in a graph\n" : "after another kernel\n");
  }
  EXPECT_THAT(kernel.explain({n}, {{"T", "float"}}), HasSubstr("; in a graph "));
}

TEST_F(GpuServing, LaunchesAGridThatMeetsAndCapturesIt) {
  const Kernel kernel = Kernel::from_source(testing::kMeeting, "meeting.cu");
  constexpr int n = 1'000'003;
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 5);
  const std::vector<int> expected(n, n + 9);
  const Array<int> x(values);
  Array<int> y(std::vector<int>(n, -1));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream();
  kernel.launch(stream.get(), {n}, x.data(), y.data());
  wait_for(stream);
  EXPECT_EQ(y.to_vector(), expected);
  y = Array<int>(std::vector<int>(n, -1));
  Graph graph(stream.get(), [&] { kernel.launch(stream.get(), {n}, x.data(), y.data()); });
  graph.launch(stream.get());
  wait_for(stream);
  EXPECT_EQ(y.to_vector(), expected);
}

TEST_F(GpuServing, LaunchesClustersAndADependentLaunchAndCapturesThem) {
  if (served_compute_capability() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  const Kernel kernel = Kernel::from_file(TUNER_SOURCE_DIR "/examples/cluster_sum.cu");
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream();
  for (const std::size_t n : {1, 50'000, 1'000'003}) {
    const Array<int> x(std::vector<int>(n, 3));
    Array<int> y(std::vector<int>(1, -1));
    for (int i = 0; i < 3; ++i) kernel.launch(stream.get(), {n}, x.data(), y.data());
    wait_for(stream);
    EXPECT_EQ(y.to_vector()[0], static_cast<int>(3 * n));
    y = Array<int>(std::vector<int>(1, -1));
    Graph graph(stream.get(), [&] { kernel.launch(stream.get(), {n}, x.data(), y.data()); });
    graph.launch(stream.get());
    graph.launch(stream.get());
    wait_for(stream);
    EXPECT_EQ(y.to_vector()[0], static_cast<int>(3 * n));
  }
}

TEST_F(GpuServing, ReplaysGraphsCapturedOnOneStreamOnTwoBesideCallsOnTheFirst) {
  const std::size_t n = 4'000'000;
  const Array<int> values(std::vector<int>(n, 1));
  Array<int> sums(std::vector<int>(3, 0));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream first = cuda::make_stream(), second = cuda::make_stream();
  const ReduceOptions options{Operation::sum, first.get()};
  prepare_reduce(values.data(), n, options);
  Graph one(first.get(), [&] { reduce_async(values.data(), n, sums.data(), options); });
  Graph other(first.get(), [&] { reduce_async(values.data(), n - 1, sums.data() + 1, options); });
  int wrong = 0;
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k < 4; ++k) {
      one.launch(first.get());
      other.launch(second.get());
      reduce_async(values.data(), n - 2, sums.data() + 2, options);
    }
    wait_for(second);
    wait_for(first);
    const std::vector<int> found = sums.to_vector();
    for (int g = 0; g < 3; ++g) wrong += found[g] != static_cast<int>(n) - g;
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(GpuServing, ReadsAnArrayOnceLaunchesOnEveryStreamHaveEndedAndEndsNoCapture) {
  constexpr std::size_t n = 100'000'000, calls = 50;
  const Array<int> values(std::vector<int>(n, 1));
  Array<int> sums(std::vector<int>(calls, 0));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream(), other = cuda::make_stream();
  const ReduceOptions options{Operation::sum, stream.get()};
  prepare_reduce(values.data(), n, options);
  std::vector<int> read;
  Graph graph(other.get(), [&] {
    for (std::size_t i = 0; i < calls; ++i) reduce_async(values.data(), n, sums.data() + i, options);
    read = sums.to_vector();
  });
  EXPECT_EQ(read, std::vector<int>(calls, n));
}

TEST_F(GpuServing, ServesMoreStreamsThanItHasSpacesForAndEndsNoCapture) {
  constexpr std::size_t n = 1'000'000, streams = 2 * WorkSpaces::kMaxStreams + 10;
  const Array<int> values(std::vector<int>(n, 1));
  Array<int> sums(std::vector<int>(2 * streams, 0));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream other = cuda::make_stream();
  std::vector<cuda::UniqueStream> alive;
  ReduceOptions options;
  prepare_reduce(values.data(), n, options);
  Graph graph(other.get(), [&] {
    for (std::size_t i = 0; i < streams; ++i) {
      options.stream = alive.emplace_back(cuda::make_stream()).get();
      reduce_async(values.data(), n, sums.data() + 2 * i, options);
      const cuda::UniqueStream destroyed_at_once = cuda::make_stream();
      options.stream = destroyed_at_once.get();
      reduce_async(values.data(), n, sums.data() + 2 * i + 1, options);
    }
  });
  EXPECT_EQ(sums.to_vector(), std::vector<int>(2 * streams, n));
  trim();
  EXPECT_EQ(reduce(values.data(), n), static_cast<int>(n));
}

TEST_F(GpuServing, ServesTheContextThatFollowsAReset) {
  {
    const Array<int> values(std::vector<int>(5000, 1));
    EXPECT_EQ(reduce(values.data(), 5000), 5000);
    auto* const reset = reinterpret_cast<CUresult (*)(CUdevice)>(
        ::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxReset_v2"));
    cuda::check(reset(0), "cuDevicePrimaryCtxReset");
  }
  const Array<int> again(std::vector<int>(5000, 2));
  EXPECT_EQ(reduce(again.data(), 5000), 10'000);
}

class GpuRecording : public GpuServing {
 protected:
  GpuRecording() { ::setenv("TUNER_RECORD_DIR", folder_.path().c_str(), 1); }
  /// The only recording in the folder.
  Recording recording() const {
    EXPECT_EQ(recording_is_asked_for, 0);
    const auto first = std::filesystem::directory_iterator(folder_.path());
    EXPECT_EQ(std::distance(first, {}), 1) << ::testing::PrintToString(warnings_.texts);
    return read_recording(std::filesystem::directory_iterator(folder_.path())->path());
  }
  std::vector<int> integers(const std::string& file) const {
    const std::vector<std::byte> bytes = read_data_file(file, ElementType::int32, kElements);
    std::vector<int> values(kElements);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  static constexpr int kElements = 5'000'000;  // copied in several pieces
  const testing::TemporaryFolder folder_;
  const testing::CollectedWarnings warnings_;
};

TEST_F(GpuRecording, HoldsWhatIsThereWhenTheLaunchesTurnComesOnItsStream) {
  Array<int> x(std::vector<int>(kElements, 1));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream();
  const Kernel first = adder("add"), second = adder("addRecorded");
  for (int i = 0; i < 50; ++i) first.launch(stream.get(), {kElements}, x.data(), 2);
  second.launch(stream.get(), {kElements}, x.data(), 5);
  for (int i = 0; i < 50; ++i) first.launch(stream.get(), {kElements}, x.data(), 2);
  wait_for(stream);
  EXPECT_EQ(x.to_vector(), std::vector<int>(kElements, 206));

  const Recording held = recording();
  EXPECT_EQ(held.backend, "cuda");
  EXPECT_EQ(held.data.scalars.at("shift"), "5");
  EXPECT_EQ(integers(held.data.inputs.at("x")), std::vector<int>(kElements, 101));
  EXPECT_EQ(integers(held.data.outputs.at("x")), std::vector<int>(kElements, 106));
}

TEST_F(GpuRecording, HoldsWhatAProgramsOwnLaunchDid) {
  Array<int> x(std::vector<int>(kElements, 1));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream();
  const auto own = [&] {
    cuda::check(cuda::driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(x.data()), 2, kElements * sizeof(int),
                                               stream.get()),
                "cuMemsetD8Async");
  };
  record(adder("addRecorded"), stream.get(), {kElements}, own, x.data(), 5);
  const Recording held = recording();
  EXPECT_EQ(integers(held.data.inputs.at("x")), std::vector<int>(kElements, 1));
  EXPECT_EQ(integers(held.data.outputs.at("x")), std::vector<int>(kElements, 0x02020202));
}

class GpuServingOnFirstUse : public GpuServing {
 protected:
  GpuServingOnFirstUse() : GpuServing("on_first_use") {}
};

TEST_F(GpuServingOnFirstUse, TunesOnAMissAndIsRightAfterwards) {
  const std::size_t n = 3'000'017;
  const Array<float> values(std::vector<float>(n, 1.0f));
  EXPECT_EQ(reduce(values.data(), n), static_cast<float>(n));
  EXPECT_EQ(reduce(values.data(), n), static_cast<float>(n));
}

}  // namespace
}  // namespace tuner
