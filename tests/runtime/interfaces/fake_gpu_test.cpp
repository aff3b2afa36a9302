// Serving on a driver that only keeps books (fake_libcuda.cpp): what is asked of it, and what is refused before that.

#include <filesystem>
#include <thread>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/cuda/compile/device_linker.hpp>
#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/runtime/background/housekeeping.hpp>
#include <tuner/runtime/background/renewal.hpp>
#include <tuner/runtime/decide/by_context.hpp>
#include <tuner/runtime/decide/served_device.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/tuner.hpp>

#include <tests/support/captured_graph.hpp>
#include <tests/support/environment_variable.hpp>

#include <tests/runtime/kernels.hpp>
#include <tests/runtime/serving_environment.hpp>
#include <tests/support/fake_libcuda.hpp>
#include <tests/support/tile_kernel.hpp>

namespace tuner {
namespace {

using cuda::check;
using cuda::driver;
using Graph = testing::CapturedGraph;
using testing::code_of;

/// A kernel with both kinds of work space; its parameters: n, x, part, ticket.
constexpr const char* kText = R"(
#pragma tuner kernel NAME
#pragma tuner size n : uint64
#pragma tuner parameter block = 32
#pragma tuner in x[n] : float
#pragma tuner scratch part[ceil_div(n, block)] : float
#pragma tuner zeroed ticket[1] : unsigned
#pragma tuner grid max(1, ceil_div(n, block))
#pragma tuner block block
#pragma tuner arguments n, x, part, ticket
#pragma tuner instantiate counted<block>
#pragma tuner default block=32
template <int block> __global__ void counted(unsigned long long n, const float* x, float* part, unsigned* ticket) {
  if (threadIdx.x == 0) part[blockIdx.x] = x[0] + *ticket + n;
}
)";

/// Before the first kernel of the process is made; no other test has one of this name.
const int counted_is_to_be_recorded = ::setenv("TUNER_RECORD", "countedToo", 1);

// First in the file: a process looks for NVRTC once.
TEST(FakeGpuOfCompilers, IsNotStartedByACompilerThatIsToldWhichGpusThereAre) {
  const FakeDriver* const seen = open_fake_driver();
  ASSERT_NE(seen, nullptr);
  try {
    (void)cuda::nvrtc({90});
  } catch (const cuda::NvrtcError& none) {
    GTEST_SKIP() << none.what();
  }
  EXPECT_EQ(seen->starts, 0u);
  EXPECT_EQ(compute_capabilities(), (std::vector<int>{90, 90}));
  EXPECT_EQ(seen->starts, 1u);
}

class FakeGpu : public testing::ServingEnvironment {
 protected:
  /// Many tests count what one call asks of the driver, and new results would make it ask again.
  explicit FakeGpu(const char* device = "auto") : ServingEnvironment(device, "never") {
    runtime::Housekeeping::process().end();
  }
  void SetUp() override {
    seen_ = open_fake_driver();
    ASSERT_NE(seen_, nullptr);
    const std::string none = why_no_gpu();
    if (!none.empty()) GTEST_SKIP() << "compiles with NVRTC: " << none;
    use(0);
    x_ = allocate(1 << 16);
    stream_ = cuda::make_stream();
  }
  void TearDown() override {
    stream_.reset();
    for (const CUdeviceptr address : allocated_) driver().cuMemFree(address);
    leave();
    if (seen_ == nullptr) return;
    seen_->least_parameters = FakeDriver{}.least_parameters;
    seen_->compiled_cluster = FakeDriver{}.compiled_cluster;
    seen_->clusters = FakeDriver{}.clusters;
  }

  static void use(int device) {
    CUcontext context = nullptr;
    check(driver().cuDevicePrimaryCtxRetain(&context, device), "retain");
    leave();
    check(driver().cuCtxPushCurrent(context), "cuCtxPushCurrent");
  }
  /// No context is current then.
  static void leave() {
    CUcontext context = nullptr;
    check(driver().cuCtxGetCurrent(&context), "cuCtxGetCurrent");
    if (context != nullptr) driver().cuCtxPopCurrent(&context);
  }
  const float* allocate(std::size_t elements) {
    CUdeviceptr address = 0;
    check(driver().cuMemAlloc(&address, elements * sizeof(float)), "cuMemAlloc");
    allocated_.push_back(address);
    return reinterpret_cast<const float*>(address);
  }
  static void reset(int device) {
    using Reset = CUresult (*)(CUdevice);
    reinterpret_cast<Reset>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxReset_v2"))(device);
  }
  void* part_of_last() const { return seen_->parameters[2]; }

  /// The kernel with \p more directives.
  static Kernel counted(const std::string& more = "") {
    return testing::kernel_named("counted", std::string(kText) + more);
  }

  const Kernel kernel_ = counted();
  const float* x_ = nullptr;
  cuda::UniqueStream stream_;
  FakeDriver* seen_ = nullptr;
  std::vector<CUdeviceptr> allocated_;
};

TEST_F(FakeGpu, MakesRoomForTheLaunchesFromTheDeviceOfAWholeSizeClassAndKeepsIt) {
  const auto linker =
      cuda::load_device_linker(cuda::nvrtc().version / 1000, cuda::device_linker_folders(cuda::nvrtc()));
  if (const auto* const missing = std::get_if<std::string>(&linker)) GTEST_SKIP() << *missing;
  const Kernel kernel = counted("#pragma tuner device_launches ceil_div(n, block)\n");
  kernel.launch(nullptr, {40'000}, x_);
  EXPECT_EQ(seen_->pending_limit, 2048u) << "enough for 1250";
  kernel.launch(nullptr, {4'000'000}, x_);
  const std::size_t room = seen_->pending_limit;
  EXPECT_GE(room, 4'000'000u / 32);
  EXPECT_LE(room, 2 * 4'000'000u / 32);
  kernel.launch(nullptr, {40'000}, x_);
  EXPECT_EQ(seen_->pending_limit, room) << "the larger launch may still be running";
  seen_->pending_limit = 1'000'000;
  kernel.launch(nullptr, {8'000'000}, x_);
  EXPECT_EQ(seen_->pending_limit, 1'000'000u) << "a run on another thread may need it";
}

TEST_F(FakeGpu, MakesTensorMapsAnewWhereAPointerOrASizeIsAnotherOne) {
  const Kernel kernel = testing::kernel_named("tiled", testing::kCopyTiles);
  const float* const other = allocate(1 << 16);
  auto* const y = const_cast<float*>(other);
  const FakeDriver before = *seen_;
  const auto made = [&] {
    return std::pair(seen_->tensor_maps - before.tensor_maps, seen_->moved_tensor_maps - before.moved_tensor_maps);
  };
  kernel.launch(nullptr, {500, 100}, x_, y);
  EXPECT_EQ(seen_->parameters[0], x_);
  EXPECT_EQ(seen_->map_extent, 500u);
  EXPECT_EQ(made(), std::pair(std::size_t{1}, std::size_t{0}));
  kernel.launch(nullptr, {500, 100}, x_, y);
  EXPECT_EQ(made(), std::pair(std::size_t{1}, std::size_t{0}));
  kernel.launch(nullptr, {500, 100}, other, y);
  EXPECT_EQ(seen_->parameters[0], other);
  EXPECT_EQ(made(), std::pair(std::size_t{1}, std::size_t{1}));
  kernel.launch(nullptr, {501, 100}, other, y);
  EXPECT_EQ(seen_->parameters[0], other);
  EXPECT_EQ(seen_->map_extent, 501u);
  EXPECT_EQ(made(), std::pair(std::size_t{2}, std::size_t{1}));
}

TEST_F(FakeGpu, RefusesPointersAndSizesThatNoTensorMapCanHave) {
  const Kernel kernel = testing::kernel_named("tiledAside", testing::kCopyTiles);
  auto* const y = const_cast<float*>(x_);
  EXPECT_THAT(error_of([&] {
                kernel.launch(nullptr, {500, 100}, x_ + 1, y);
              }),
              HasSubstr("takes pointers that are multiples of 16 bytes ('aligned' or a 'tensormap' in its file)"));
  kernel.launch(nullptr, {500, 100}, x_, y);
  EXPECT_THAT(error_of([&] {
                kernel.launch(nullptr, {500, 98}, x_, y);
              }),
              HasSubstr("its stride in dimension 1 has 392 bytes, and must have a multiple of 16"));
}

TEST_F(FakeGpu, AsksNothingOfATensorMapThatOnlyTheReferenceTakes) {
  std::string text =
      testing::replaced(testing::kCopyTiles, "instantiate copy_tiles<rows, tile, swizzle>", "instantiate copied");
  text = testing::replaced(text, "reference copied", "reference copy_tiles<64, 32, 128>");
  const Kernel kernel = testing::kernel_named("tiledByReference", text);
  const std::size_t before = seen_->tensor_maps;
  kernel.launch(nullptr, {500, 98}, x_, const_cast<float*>(x_));
  EXPECT_EQ(seen_->parameters[0], x_);
  EXPECT_EQ(seen_->tensor_maps, before);
}

TEST_F(FakeGpu, RunsProblemsOfTunersChoiceInWorkersOnly) {
  const testing::EnvironmentVariable none("TUNER_WORKER", "/no/worker");
  TuneOptions options;
  options.trials = 1;
  const std::size_t before = seen_->launches;
  for (const char* const more : {"", "#pragma tuner verify n=33\n"}) {  // sizes of tuner's choice, and scalars
    const Kernel kernel = testing::kernel_named("scaleInWorkers", std::string(testing::kScale) + more);
    EXPECT_THAT(error_of([&] { tune(kernel, {1000}, {}, options); }), HasSubstr("TUNER_WORKER is /no/worker"));
  }
  EXPECT_EQ(seen_->launches, before);
}

TEST_F(FakeGpu, CompilesWithTheOptionsOfTheKernelFile) {
  const Kernel kernel = counted("#pragma tuner compile --bogus={block}\n");
  EXPECT_THAT(error_of([&] { kernel.launch(nullptr, {40'000}, x_); }),
              HasSubstr("counted.cu:16:23: nvrtc: error: unrecognized option --bogus=32 found"));
}

TEST_F(FakeGpu, LoadsACodeOfItsOwnForEachSizeThatAnOptionNames) {
  const Kernel kernel = counted("#pragma tuner compile --maxrregcount={n < 40000 ? 32 : 64}\n");
  kernel.launch(nullptr, {40'000}, x_);
  const std::size_t before = seen_->modules;
  kernel.launch(nullptr, {39'999}, x_);
  EXPECT_EQ(seen_->modules, before + 1);
  kernel.launch(nullptr, {39'998}, x_);
  EXPECT_EQ(seen_->modules, before + 1);
}

TEST_F(FakeGpu, ComputesTheLaunchOfEachSizeOfAClassWithoutAllocatingOrLoading) {
  kernel_.launch(nullptr, {40'000}, x_);
  const FakeDriver before = *seen_;
  for (std::size_t n = 36'864; n < 40'960; ++n) {
    kernel_.launch(nullptr, {n}, x_);
    ASSERT_EQ(seen_->grid, (n + 31) / 32);
  }
  EXPECT_EQ(seen_->allocations, before.allocations);
  EXPECT_EQ(seen_->modules, before.modules);
  EXPECT_EQ(seen_->launches, before.launches + 4096);
}

TEST_F(FakeGpu, LaunchesCooperativelyWhereTheFileSaysSoInACaptureToo) {
  const Kernel kernel = counted("#pragma tuner cooperative n > 1000\n");
  kernel.launch(stream_.get(), {1000}, x_);
  EXPECT_EQ(seen_->cooperative, 0u);
  kernel.launch(stream_.get(), {1001}, x_);
  kernel.launch(stream_.get(), {4000}, x_);
  EXPECT_EQ(seen_->cooperative, 2u);
  EXPECT_EQ(seen_->grid, 125u);
  kernel.prepare(stream_.get(), {4000}, x_);
  const Graph graph(stream_.get(), [&] { kernel.launch(stream_.get(), {4000}, x_); });
  EXPECT_EQ(seen_->cooperative, 3u);
}

TEST_F(FakeGpu, RefusesACooperativeGridThatIsNotResidentAtOnceBeforeTheDriverIsAsked) {
  const Kernel kernel = counted("#pragma tuner cooperative\n");
  // By the shared memory that the fake driver says that its kernels and its system take.
  constexpr std::size_t resident = 56 * 132;
  kernel.launch(nullptr, {32 * resident}, x_);
  EXPECT_EQ(seen_->grid, resident);
  const std::size_t launches = seen_->launches;
  EXPECT_THAT(error_of([&] { kernel.launch(nullptr, {32 * resident + 1}, x_); }),
              HasSubstr("a cooperative grid of 7393 blocks of 32 threads is not resident at once: 56 on each of 132 "
                        "multiprocessors are 7392"));
  EXPECT_EQ(seen_->launches, launches);
}

TEST_F(FakeGpu, LaunchesClustersWhereTheGridConsistsOfThemInACaptureToo) {
  const Kernel kernel = counted("#pragma tuner cluster n > 1024 ? 2 : 1\n");
  kernel.launch(stream_.get(), {1000}, x_);
  EXPECT_EQ(seen_->cluster[0], 0u) << "an ordinary launch";
  for (const std::size_t n : {2048, 2040, 4096}) {
    kernel.launch(stream_.get(), {n}, x_);
    EXPECT_EQ(seen_->grid, (n + 31) / 32);
    EXPECT_THAT(seen_->cluster, ElementsAre(2, 1, 1));
  }
  const std::size_t launches = seen_->launches;
  EXPECT_THAT(error_of([&] { kernel.launch(stream_.get(), {2048 + 1}, x_); }),
              HasSubstr("grid of 65x1x1 does not consist of clusters of 2x1x1"));
  EXPECT_EQ(seen_->launches, launches);
  kernel.prepare(stream_.get(), {4096}, x_);
  const Graph graph(stream_.get(), [&] { kernel.launch(stream_.get(), {4096}, x_); });
  EXPECT_EQ(seen_->launches, launches + 1);
  EXPECT_THAT(seen_->cluster, ElementsAre(2, 1, 1));
}

TEST_F(FakeGpu, LaunchesTheClusterThatIsCompiledIntoAKernel) {
  seen_->compiled_cluster = 4;
  const std::string own_module = "__global__ void pairs() {}\n";
  const Kernel kernel = counted(own_module);
  kernel.launch(stream_.get(), {4 * 32}, x_);
  EXPECT_THAT(seen_->cluster, ElementsAre(4, 1, 1));
  EXPECT_THAT(error_of([&] { kernel.launch(stream_.get(), {5 * 32}, x_); }),
              HasSubstr("grid of 5x1x1 does not consist of clusters of 4x1x1"));
  EXPECT_THAT(error_of([&] { counted("#pragma tuner cluster 2\n" + own_module).launch(stream_.get(), {8 * 32}, x_); }),
              HasSubstr("the launch has a cluster of 2x1x1, and its kernel is compiled for one of 4x1x1"));
}

TEST_F(FakeGpu, RefusesAClusterThatTheDeviceHasNoRoomFor) {
  seen_->clusters = 0;
  EXPECT_THAT(error_of([&] { counted("#pragma tuner cluster 2\n").launch(stream_.get(), {64}, x_); }),
              HasSubstr("no cluster of 2 blocks fits on the device, with 32 threads"));
  seen_->clusters = 3;
  const Kernel meeting = counted("#pragma tuner cluster 2\n#pragma tuner cooperative\n");
  const std::size_t cooperative = seen_->cooperative;
  meeting.launch(stream_.get(), {6 * 32}, x_);
  EXPECT_EQ(seen_->cooperative, cooperative + 1);
  EXPECT_THAT(seen_->cluster, ElementsAre(2, 1, 1));
  EXPECT_THAT(error_of([&] { meeting.launch(stream_.get(), {8 * 32}, x_); }),
              HasSubstr("a cooperative grid of 8 blocks of 32 threads is not resident at once: the device holds 6"));
}

TEST_F(FakeGpu, LaunchesDependentlyAndWithAShareOfSharedMemoryWhereTheFileSaysSo) {
  const Kernel kernel = counted("#pragma tuner dependent n > 1000\n#pragma tuner carveout n > 2000 ? 50 : -1\n");
  kernel.launch(stream_.get(), {1000}, x_);
  EXPECT_EQ(seen_->dependent, 0u);
  kernel.launch(stream_.get(), {1001}, x_);
  EXPECT_EQ(seen_->dependent, 1u);
  EXPECT_EQ(seen_->carveout, -1);
  kernel.launch(stream_.get(), {2001}, x_);
  EXPECT_EQ(seen_->dependent, 2u);
  EXPECT_EQ(seen_->carveout, 50);
}

TEST_F(FakeGpu, AllocatesForALaunchWhatItNeedsAndNothingForCapturesOrTheReference) {
  kernel_.launch(nullptr, {1000}, x_);
  trim();
  const FakeDriver before = *seen_;
  kernel_.launch(stream_.get(), {1000}, x_);
  EXPECT_EQ(seen_->allocations, before.allocations + 1);
  EXPECT_LE(seen_->bytes - before.bytes, 512u);
  EXPECT_LE(reduce_workspace_bytes(x_, 1000), 4096u) << "the reference alone has 65536 bytes of scratch";
}

TEST_F(FakeGpu, GivesBackTheWorkSpaceThatNoGraphHas) {
  kernel_.launch(nullptr, {1000}, x_);
  trim();
  const std::size_t none = seen_->bytes;
  const cuda::UniqueStream a = cuda::make_stream(), b = cuda::make_stream();
  kernel_.launch(a.get(), {1000}, x_);
  kernel_.prepare(b.get(), {1000}, x_);
  {
    const Graph graph(b.get(), [&] { kernel_.launch(b.get(), {1000}, x_); });
    trim();
    EXPECT_GT(seen_->bytes, none) << "the graph has its own";
  }
  trim();
  EXPECT_EQ(seen_->bytes, none);
  kernel_.launch(a.get(), {1000}, x_);
  EXPECT_GT(seen_->bytes, none);
}

TEST_F(FakeGpu, ServesEverNewStreamsWithoutTakingWorkSpaceFromLastingOnesOrEndingACapture) {
  const cuda::UniqueStream lasting = cuda::make_stream(), captured = cuda::make_stream();
  kernel_.launch(lasting.get(), {1000}, x_);
  void* const first = part_of_last();
  const FakeDriver before = *seen_;
  std::vector<cuda::UniqueStream> alive;
  (void)Graph(captured.get(), [&] {
    for (int i = 0; i < 5000; ++i) kernel_.launch(cuda::make_stream().get(), {1000}, x_);
    for (int i = 0; i < 200; ++i) kernel_.launch(alive.emplace_back(cuda::make_stream()).get(), {1000}, x_);
  });
  EXPECT_EQ(seen_->captures_ended, before.captures_ended);
  EXPECT_LE(seen_->waits - before.waits, 2u) << "while spaces of destroyed streams are few and small";
  kernel_.launch(lasting.get(), {1000}, x_);
  EXPECT_EQ(part_of_last(), first);
  // More streams than spaces: all are waited for, beside the capture.
  (void)Graph(captured.get(), [&] {
    for (int i = 0; i < 600; ++i) kernel_.launch(alive.emplace_back(cuda::make_stream()).get(), {1000}, x_);
  });
  EXPECT_EQ(seen_->captures_ended, before.captures_ended);
  EXPECT_GT(seen_->waits, before.waits);
}

TEST_F(FakeGpu, ReadsAnArrayOnceEverythingHasEndedAndEndsNoCapture) {
  const std::vector<float> values{1, 2, 3};
  const FakeDriver before = *seen_;
  (void)Graph(stream_.get(), [&] {
    const Array<float> array(values);
    EXPECT_EQ(array.to_vector(), values);
    EXPECT_GE(seen_->waits, before.waits + 1) << "launches may be on any stream";
  });
  EXPECT_EQ(seen_->captures_ended, before.captures_ended);
}

TEST_F(FakeGpu, LetsNoOtherThreadsLaunchWithWorkSpaceComeBetweenThoseOfACallOnOneStream) {
  seen_->least_parameters = 1;
  const auto* const x = reinterpret_cast<const int*>(x_);
  auto* const y = const_cast<int*>(x);
  const auto launches_of = [&](const Kernel& kernel) {  // of a warm call
    kernel.launch(nullptr, {16'000}, x, y);
    const std::size_t before = seen_->launches;
    kernel.launch(nullptr, {16'000}, x, y);
    return seen_->launches - before;
  };
  std::vector<std::pair<Kernel, std::size_t>> kernels;
  for (const char* const finish : testing::kFinishes) {
    const Kernel kernel = testing::reduce_with(finish, "sum");
    kernels.emplace_back(kernel, launches_of(kernel));
  }
  EXPECT_EQ(kernels[3].second, 2u) << "two_launches";
  for (const auto& a : kernels) {
    for (const auto& b : kernels) {
      seen_->launched_by.clear();
      const auto call = [&](const Kernel& kernel) {
        for (int i = 0; i < 100; ++i) kernel.launch(nullptr, {16'000}, x, y);
      };
      std::thread other(call, b.first);
      const std::thread::id others = other.get_id();
      call(a.first);
      other.join();
      const std::vector<std::thread::id>& by = seen_->launched_by;
      for (std::size_t i = 0; i < by.size();) {
        const std::size_t together = by[i] == others ? b.second : a.second;
        for (std::size_t end = i + together; i < end; ++i) ASSERT_EQ(by.at(i), by[end - together]) << "launch " << i;
      }
    }
  }
}

TEST_F(FakeGpu, LendsEachCapturedCallWorkSpaceUntilItsGraphIsDestroyed) {
  kernel_.launch(stream_.get(), {1000}, x_);
  std::set<void*> spaces{part_of_last()};
  kernel_.prepare(stream_.get(), {1000}, x_);
  const std::size_t allocations = seen_->allocations;
  const auto call = [&] {
    kernel_.launch(stream_.get(), {1000}, x_);
    EXPECT_TRUE(spaces.insert(part_of_last()).second) << "lent twice";
  };
  {
    const Graph first(stream_.get(), [&] { call(), call(); });
    const Graph second(stream_.get(), call);
    EXPECT_EQ(seen_->allocations, allocations);
  }
  for (int i = 0; i < 100; ++i) (void)Graph(stream_.get(), [&] { kernel_.launch(stream_.get(), {1000}, x_); });
}

TEST_F(FakeGpu, RefusesACapturedCallThatNothingWasPreparedForAndAllocatesNothing) {
  const FakeDriver before = *seen_;
  const Graph graph(stream_.get(), [&] {
    EXPECT_THAT(error_of([&] { kernel_.launch(stream_.get(), {50'000}, x_); }), HasSubstr("call prepare()"));
    EXPECT_EQ(code_of([&] { kernel_.launch(stream_.get(), {50'000}, x_); }), ErrorCode::not_prepared);
    EXPECT_THAT(error_of([&] { kernel_.prepare(stream_.get(), {50'000}, x_); }), HasSubstr("before the capture"));
    EXPECT_THAT(error_of([&] { (void)reduce(x_, 100, {Operation::sum, stream_.get()}); }), HasSubstr("reduce_async"));
  });
  EXPECT_EQ(seen_->allocations, before.allocations);
  EXPECT_EQ(seen_->launches, before.launches);
}

TEST_F(FakeGpu, CapturesWhatWasPreparedAlsoWhenNewResultsHaveArrivedSince) {
  kernel_.prepare(stream_.get(), {1000}, x_);
  runtime::Renewal::process().renew("counted");
  const std::size_t allocations = seen_->allocations;
  const Graph graph(stream_.get(), [&] { kernel_.launch(stream_.get(), {1000}, x_); });
  EXPECT_EQ(seen_->allocations, allocations);
}

TEST_F(FakeGpu, ServesCapturedCallsWithTheResultForGraphsAndOthersWithTheOneForSingleLaunches) {
  const Kernel kernel = testing::kernel_named(
      "usedBothWays", testing::replaced(kText, "parameter block = 32", "parameter block = 32 64 128 256"));
  cache::Database& database = runtime::Serving::process().terms().wisdom.user();
  const auto store = [&](Use use, const std::string& configuration) {
    const ProblemSize size = complete(kernel.spec(), {{{"n", 1024}}, {}});
    testing::store_best(database, context_of(kernel.spec(), size, find_device("cuda"), Objective::time_of(use)),
                        configuration);
  };
  const auto captured = [&](const Kernel& used) {
    const Graph graph(stream_.get(), [&] { used.launch(stream_.get(), {1024}, x_); });
    return 1024 / seen_->grid;
  };
  const auto launched = [&](const Kernel& used) {
    used.launch(stream_.get(), {1024}, x_);
    return 1024 / seen_->grid;
  };
  store(Use::single, "block=64");
  kernel.prepare(stream_.get(), {1024}, x_);
  EXPECT_EQ(captured(kernel), 64u) << "nothing better is known";
  store(Use::graph, "block=128");
  store(Use::stream, "block=256");
  runtime::Renewal::process().renew("usedBothWays");
  kernel.prepare(stream_.get(), {1024}, x_);
  EXPECT_EQ(captured(kernel), 128u);
  EXPECT_EQ(launched(kernel), 64u);
  EXPECT_THAT(kernel.explain({1024}), AllOf(StartsWith("block=64 ("), HasSubstr("; in a graph block=128 (")));
  EXPECT_EQ(kernel.workspace_bytes({1024}, x_), kernel.used_as(Use::single).workspace_bytes({1024}, x_))
      << "the larger one";

  const Kernel in_streams = kernel.used_as(Use::stream);
  in_streams.prepare(stream_.get(), {1024}, x_);
  EXPECT_EQ(captured(in_streams), 256u) << "as the program says";
  EXPECT_EQ(launched(in_streams), 256u);
  EXPECT_THAT(in_streams.explain({1024}), AllOf(StartsWith("block=256 ("), HasSubstr(", timed as 'stream'")));
  EXPECT_EQ(launched(kernel.used_as(Use::hot)), 64u) << "nothing is known for that use";
}

TEST_F(FakeGpu, MakesRoomForTheCapturesOfEverySizeClassThatIsPrepared) {
  for (const Size n : {50'000, 1000}) kernel_.prepare(stream_.get(), {n}, x_);
  const Graph graph(stream_.get(), [&] {
    for (std::size_t i = 0; i < Kernel::kCaptures; ++i) kernel_.launch(stream_.get(), {1000}, x_);
    for (std::size_t i = 0; i < Kernel::kCaptures; ++i) kernel_.launch(stream_.get(), {50'000}, x_);
  });
}

TEST_F(FakeGpu, RefusesACapturedCallOnceTheRoomForCapturesIsUsedUp) {
  kernel_.prepare(stream_.get(), {1000}, x_);
  std::size_t captured = 0;
  std::string error;
  const Graph graph(stream_.get(), [&] {
    for (; captured < 1000 && error.find("prepare()") == std::string::npos; ++captured) {
      error = error_of([&] { kernel_.launch(stream_.get(), {1000}, x_); });
    }
  });
  EXPECT_GT(captured, Kernel::kCaptures);
  EXPECT_THAT(error, HasSubstr("prepare()"));
}

TEST_F(FakeGpu, ServesTheContextThatFollowsAReset) {
  kernel_.launch(nullptr, {1000}, x_);
  const unsigned long long before = seen_->context;
  const std::size_t modules = seen_->modules;
  reset(0);
  EXPECT_THAT(error_of([&] { kernel_.launch(nullptr, {1000}, x_); }), HasSubstr("has been destroyed"));
  EXPECT_EQ(code_of([&] { kernel_.launch(nullptr, {1000}, x_); }), ErrorCode::context_lost);
  use(0);
  kernel_.launch(nullptr, {1000}, x_);
  EXPECT_NE(seen_->context, before);
  EXPECT_GT(seen_->modules, modules) << "loaded anew";
}

TEST_F(FakeGpu, RefusesPointersOfAnotherGpuAndOfTheHost) {
  use(1);
  const float* const elsewhere = allocate(1000);
  use(0);
  kernel_.launch(nullptr, {1000}, x_);
  const std::size_t launches = seen_->launches;
  EXPECT_THAT(error_of([&] { kernel_.launch(nullptr, {1000}, elsewhere); }),
              HasSubstr("'x' is memory of GPU 1, which GPU 0 cannot access"));
  const std::vector<float> here(1000);
  EXPECT_THAT(error_of([&] { kernel_.launch(nullptr, {1000}, here.data()); }), HasSubstr("'x' is host memory"));
  use(1);
  EXPECT_THAT(error_of([&] { kernel_.launch(nullptr, {1000}, x_); }), HasSubstr("GPU 0, which GPU 1 cannot access"));
  EXPECT_EQ(seen_->launches, launches);
}

TEST_F(FakeGpu, ServesAThreadWithoutAContextWhereItsPointersAre) {
  use(1);
  const float* const elsewhere = allocate(1000);
  kernel_.launch(nullptr, {1000}, elsewhere);
  const unsigned long long second = seen_->context;
  leave();
  kernel_.launch(nullptr, {1000}, elsewhere);
  EXPECT_EQ(seen_->context, second);
  kernel_.launch(nullptr, {1000}, x_);
  EXPECT_NE(seen_->context, second);
}

TEST_F(FakeGpu, AsksTheDriverAtMostTwoQuestionsBesideAWarmLaunchAndAThirdForWorkSpaceOnAStreamOfOnesOwn) {
  const Kernel plain = testing::kernel_named("plain", R"(
#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner inout x[n] : float
#pragma tuner inout y[n] : float
#pragma tuner inout z[n] : float
#pragma tuner parameter block = 32
#pragma tuner grid 1
#pragma tuner block block
#pragma tuner arguments x, y, z, n
#pragma tuner instantiate plain
__global__ void plain(float*, float*, float*, int) {}
)");
  auto* const x = const_cast<float*>(x_);
  const auto calls = [&](const auto& call) {
    call();
    call();
    const std::size_t before = seen_->calls;
    call();
    return seen_->calls - before;
  };
  // Which context is current, whether the stream is captured, the launch; which stream it is.
  EXPECT_EQ(calls([&] { plain.launch(stream_.get(), {1000}, x, x, x); }), 3u);
  EXPECT_EQ(calls([&] { kernel_.launch(nullptr, {1000}, x_); }), 3u);
  EXPECT_EQ(calls([&] { kernel_.launch(stream_.get(), {1000}, x_); }), 4u);
  EXPECT_LE(calls([&] { reduce_async(x_, 1000, x, {Operation::sum, stream_.get()}); }), 4u);
}

TEST_F(FakeGpu, AsksTheDriverOnceForEachAnswerThatANewSizeClassNeeds) {
  (void)reduce(x_, 33'000);
  const FakeDriver before = *seen_;
  (void)reduce(x_, 40'000);
  ASSERT_EQ(seen_->modules, before.modules) << "the same configuration is best for both";
  // The context's id and handle, the capture; the mode of captures, changed and changed back. The pointer is known.
  EXPECT_EQ(seen_->calls - before.calls, 5 + seen_->launches - before.launches);
}

TEST_F(FakeGpu, LetsGoOfWhatBelongedToContextsThatDied) {
  std::weak_ptr<Backend> before;
  for (std::size_t i = 0; i < runtime::ByContext<int>::kCapacity + 10; ++i) {
    reset(0);
    use(0);
    kernel_.launch(nullptr, {1000}, x_);
    EXPECT_TRUE(before.expired()) << "kept beside context " << i << ", which followed it";
    before = runtime::ServedDevice::of(CallContext(nullptr, 0).name()).backend;
  }
}

TEST_F(FakeGpu, KeepsAnArrayHarmlessWhoseContextHasDied) {
  std::vector<float> values(100);
  Array<float> array(values);
  reset(0);
  use(0);
  kernel_.launch(nullptr, {1000}, x_);
  EXPECT_THAT(error_of([&] { (void)array.to_vector(); }), HasSubstr("lost"));
}

class FakeGpuByNumber : public FakeGpu {
 protected:
  FakeGpuByNumber() : FakeGpu("1") {}
};

TEST_F(FakeGpuByNumber, ServesAThreadWithoutAContextOnTheGpuOfThatNumber) {
  leave();
  const Array<float> x(1000);
  kernel_.launch(nullptr, {1000}, x.data());
  CUcontext second = nullptr;
  check(driver().cuDevicePrimaryCtxRetain(&second, 1), "cuDevicePrimaryCtxRetain");
  EXPECT_EQ(seen_->context, cuda::context_id(second));
}

TEST_F(FakeGpu, RecordsNoLaunchInAGraphAndTheSameLaunchOutsideOfIt) {
  ASSERT_EQ(counted_is_to_be_recorded, 0);
  const testing::TemporaryFolder folder;
  ::setenv("TUNER_RECORD_DIR", folder.path().c_str(), 1);
  const testing::CollectedWarnings warnings;
  const Kernel kernel = testing::kernel_named("countedToo", kText);
  kernel.prepare(stream_.get(), {1000}, x_);
  const std::size_t launches = seen_->launches;
  int own = 0;
  (void)Graph(stream_.get(), [&] {
    kernel.launch(stream_.get(), {1000}, x_);
    record(
        kernel, stream_.get(), {1000}, [&] { ++own; }, x_);
  });
  EXPECT_EQ(seen_->launches, launches + 1);
  EXPECT_EQ(own, 1);
  EXPECT_THAT(warnings.texts, Contains(HasSubstr("its stream is captured into a graph")));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));

  kernel.launch(stream_.get(), {1000}, x_);
  EXPECT_EQ(seen_->launches, launches + 2);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace tuner
