#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/error.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/wisdom.hpp>
#include <tuner/tuner.hpp>

#include <tests/support/child_process.hpp>
#include <tests/support/temporary_folder.hpp>

#include <tests/runtime/kernels.hpp>
#include <tests/runtime/serving_environment.hpp>

/// As cuda_fp16.h defines it for programs: it has a conversion to float.
struct __half {  // NOLINT(bugprone-reserved-identifier)
  float value;
  explicit operator float() const { return value; }
};

namespace tuner {
namespace {

using testing::code_of;
using testing::kScale;

class HostServing : public testing::ServingEnvironment {
 protected:
  HostServing() : ServingEnvironment("host", "never") {}

  /// A kernel that writes floats.
  static Kernel writer(const std::string& name, const std::string& more) {
    return testing::kernel_of_blocks(name, "#pragma tuner out y[n] : float\n" + more);
  }
  void scale(int n, float factor) { scale_.launch(nullptr, {n}, x_.data(), factor, y_.data()); }

  const Kernel scale_ = testing::kernel_named("scale", kScale);
  std::vector<float> x_ = std::vector<float>(1000, 1.5f);
  std::vector<float> y_ = std::vector<float>(1000, 0.0f);
};

TEST_F(HostServing, WorksOutArgumentsForEverySizeThatItServes) {
  const Kernel kernel = testing::kernel_of_blocks("ends", R"(#pragma tuner parameter weight = 0.25 1.0
#pragma tuner let last = n - 1
#pragma tuner in x[n] : float
#pragma tuner out y[n] : float
#pragma tuner arguments x, y, last, 3 * n * block : int64, weight : float, -1
#pragma tuner instantiate ends<{block * 2}>
#pragma tuner reference endsReference
#pragma tuner arguments x, y, n
#pragma tuner default block=32 weight=0.25
template <int twice> __global__ void ends(const float* x, float* y, int last, long long all, float weight, int one) {
  const int i = blockIdx.x * (twice / 2) + threadIdx.x;
  if (i <= last) y[i] = x[i] + 4 * weight + static_cast<float>(all / (twice / 2)) + one;
}
__global__ void endsReference(const float* x, float* y, int n) {}
)");
  for (const int n : {1, 513, 700, 1000, 600}) {
    std::vector<float> x(static_cast<std::size_t>(n), 2), y(x.size() + 1, -1);
    kernel.launch(nullptr, {n}, x.data(), y.data());
    std::vector<float> wanted(x.size() + 1, static_cast<float>(2 + 3 * n));
    wanted.back() = -1;
    EXPECT_EQ(y, wanted) << n;
  }
}

TEST_F(HostServing, TakesPointersToTheStructsThatAKernelDefines) {
  struct Star {
    double mass;
    int id;
  };
  const Kernel kernel = testing::kernel_named("age", R"(#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner parameter block_size_x = 32 64
#pragma tuner in stars[n]
#pragma tuner out older[n]
#pragma tuner grid max(1, ceil_div(n, block_size_x))
#pragma tuner reference default
#pragma tuner default block_size_x=32
struct Star { double mass; int id; };
extern "C" __global__ void age(const Star* stars, Star* older, int n) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) older[i] = {stars[i].mass / 2, stars[i].id};
}
)");
  const std::vector<Star> stars(100, {3, 7});
  std::vector<Star> older(100);
  kernel.launch(nullptr, {100}, stars.data(), older.data());
  EXPECT_EQ(older[99].mass, 1.5);
  EXPECT_EQ(older[99].id, 7);
}

TEST_F(HostServing, RefusesAKernelThatTakesTexturesOrAStructWithPointers) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(#pragma tuner texture t = x[n]
extern "C" __global__ void look(cudaTextureObject_t t, float* y, int n) { y[block_size_x] = tex1D<float>(t, n); })",
       "reads or writes through 't', a copy of its buffer that calls do not make"},
      {R"(#pragma tuner scalar f = { x, y }
struct Fields { const float* x; float* y; };
extern "C" __global__ void look(Fields f) { f.y[block_size_x] = f.x[0]; })",
       "takes a struct with pointers by value ('f'), which calls cannot check: pass the pointers one by one"}};
  for (const auto& [kernel, why] : cases) {
    const Kernel look = testing::kernel_named("look", std::string(R"(#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner parameter block_size_x = 32 64
#pragma tuner in x[n] : float
#pragma tuner out y[n] : float
#pragma tuner grid 1
#pragma tuner reference default
#pragma tuner default block_size_x=32
)") + kernel);
    EXPECT_THAT(error_of([&] { look.launch(nullptr, {1000}, x_.data(), y_.data()); }), HasSubstr(why));
  }
}

TEST_F(HostServing, TakesStructsOfPlainDataByValue) {
  struct Pass {
    float factor;
    int shift;
    double weights[2];
  };
  struct Larger {
    Pass pass;
    int more;
  };
  const Kernel kernel = writer("weigh", R"(#pragma tuner scalar pass = { 2, n, { 1, 3 } }
#pragma tuner verify n=33
#pragma tuner default block=32
#pragma tuner arguments y, pass, n
#pragma tuner instantiate weigh
#pragma tuner reference weigh
struct Pass { float factor; int shift; double weights[2]; };
__global__ void weigh(float* y, Pass pass, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = pass.factor * (i + pass.shift) + pass.weights[1];
}
)");
  TuneOptions options;
  options.trials = 1;
  tune(kernel, {1000}, {}, options);
  for (const Pass& pass : {Pass{2, 1000, {1, 3}}, Pass{0.5f, 1000, {0, 7}}, Pass{1, -4, {0, 0}}}) {
    kernel.launch(nullptr, {1000}, y_.data(), pass);
    for (std::size_t i = 0; i < y_.size(); i += 37)
      EXPECT_EQ(y_[i], pass.factor * static_cast<float>(static_cast<int>(i) + pass.shift) + pass.weights[1]);
  }
  const auto refusal = [&](auto given) { return error_of([&] { kernel.launch(nullptr, {1000}, y_.data(), given); }); };
  EXPECT_THAT(refusal(2.0f), HasSubstr("takes a struct of 24 bytes as 'pass', and the call gives a number"));
  EXPECT_THAT(refusal(Larger{}), HasSubstr("as a struct of 24 bytes, and the call gives 32"));
  EXPECT_THAT(error_of([&] { scale_.launch(nullptr, {1000}, x_.data(), Pass{}, y_.data()); }),
              HasSubstr("takes a number as 'factor', and the call gives a struct"));
}

TEST_F(HostServing, TakesNumbersOfTypesThatCppDoesNotHave) {
  const detail::LaunchArgument argument = detail::launch_argument(__half{1.5f});
  EXPECT_EQ(argument.kind, detail::LaunchArgument::Kind::floating);
  EXPECT_EQ(argument.number, 1.5);
}

TEST_F(HostServing, AddsToWhatTheCallerLeftWhateverATuningPrepares) {
  const Kernel kernel = KernelBuilder("count", R"(
template <int block> __global__ void count(int* total, int n) {
  if (blockIdx.x * block + threadIdx.x < n) atomicAdd(total, 1);
}
__global__ void clear(int* total) { *total = 0; }
__global__ void countReference(int* total, int n) { *total = n; }
)")
                            .size("n")
                            .parameter("block", {32, 64})
                            .inout("total", "1", "int")
                            .grid("ceil_div(n, block)")
                            .block("block")
                            .arguments({"total", "n"})
                            .instantiate("count<block>")
                            .reference("countReference")
                            .grid("1")
                            .block("1")
                            .prepare("clear")
                            .grid("1")
                            .block("1")
                            .arguments({"total"})
                            .default_configuration("block=32")
                            .build();
  int total = 1000;
  kernel.launch(nullptr, {100}, &total);
  kernel.launch(nullptr, {50}, &total);
  EXPECT_EQ(total, 1150);
  const RunResult run = tuner::run(kernel, {50}, {}, {.configuration = "block=64"});
  EXPECT_TRUE(run.verified) << "that one has data of its own, and prepares them";
}

TEST_F(HostServing, TakesTheAlignmentTheOnlyValuesAndTheSeedsOfAKernelThatIsBuiltInCode) {
  const Kernel kernel = KernelBuilder("filled", R"(
template <int block> __global__ void filled(float* y, float value, int n) {
  if (blockIdx.x * block + threadIdx.x < n) y[blockIdx.x * block + threadIdx.x] = value;
}
)")
                            .size("n")
                            .parameter("block", {32, 64})
                            .out("y", "n", "float")
                            .scalar("value", "float", 2, true)
                            .aligned(16)
                            .grid("ceil_div(n, block)")
                            .block("block")
                            .arguments({"y", "value", "n"})
                            .instantiate("filled<block>")
                            .reference("default")
                            .default_configuration("block=32")
                            .seed("block=64")
                            .estimate("1.5 * block")
                            .build();
  EXPECT_EQ(kernel.spec().seeds.at(0).text(), "block=64");
  EXPECT_EQ(kernel.spec().work.estimate->text(), "1.5 * block");
  EXPECT_EQ(kernel.spec().alignment, 16);
  EXPECT_TRUE(kernel.spec().scalars.at(0).only);
  kernel.launch(nullptr, {900}, y_.data(), 2);
  EXPECT_EQ(y_[899], 2.0f);
  EXPECT_THAT(error_of([&] { kernel.launch(nullptr, {900}, y_.data() + 1, 2); }),
              HasSubstr("takes pointers that are multiples of 16 bytes"));
}

TEST_F(HostServing, TakesPointersAndNumbersInEitherOrderAndSizesOfAnyInteger) {
  scale_.launch(nullptr, {1000}, x_.data(), 2.0f, y_.data());
  EXPECT_THAT(y_, Each(3.0f));
  scale_.launch(nullptr, {std::size_t{1000}}, 4.0, x_.data(), y_.data());
  EXPECT_THAT(y_, Each(6.0f));
  const std::vector<double> x(10, 0.5);
  std::vector<double> y(10);
  scale_.launch(nullptr, {10u}, x.data(), 2, y.data());
  EXPECT_THAT(y, Each(1.0)) << "the type follows from the pointers";
}

TEST_F(HostServing, RunsWithoutMetricsThatCannotBeHadAndWarns) {
  RunOptions options;
  options.configuration = "block=64";
  options.metrics = {"textbook", "energy"};
  ::testing::internal::CaptureStderr();
  const RunResult result = run(scale_, {1000}, {}, options);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("not collected: there are hardware counters on a GPU"));
  EXPECT_TRUE(result.metrics.empty());
  EXPECT_GT(result.median_ns, 0);
  EXPECT_FALSE(result.limit.empty());
}

TEST_F(HostServing, ThrowsErrorsWhoseKindAProgramCanTest) {
  TuneOptions strange;
  strange.strategy = "no such strategy";
  const Kernel uncompilable = testing::kernel_named("broken", testing::replaced(kScale, "const int i", "const it i"));
  EXPECT_EQ(code_of([&] { scale_.launch(nullptr, {1000}, x_.data()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)scale_.explain({1000}, {{"T", "int"}}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { tune(scale_, {1000}, {}, strange); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Kernel::from_file("noSuchKernel"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { Kernel::from_file("./no such file.cu"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { Kernel::from_source("int x;", "x.cu"); }), ErrorCode::invalid_kernel);
  EXPECT_EQ(code_of([] { Array<char>(std::size_t{1} << 60); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([&] { uncompilable.launch(nullptr, {1000}, x_.data(), 1, y_.data()); }), ErrorCode::compiler);
}

TEST_F(HostServing, IsRightAfterALaunchThatFailed) {
  const Kernel sum = testing::kernel_named("trapped", R"(
#pragma tuner kernel NAME
#pragma tuner size n : int
#pragma tuner parameter block = 32
#pragma tuner in x[n] : int
#pragma tuner inout y[1] : int
#pragma tuner zeroed ended[1] : unsigned
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments n, x, y, ended
#pragma tuner default block=32
__global__ void NAME(int n, const int* x, int* y, unsigned* ended) {
  if (threadIdx.x != 0) return;
  if (x[blockIdx.x * blockDim.x] < 0) __trap();
  if (atomicAdd(ended, 1u) + 1 == gridDim.x) y[0] += 1, *ended = 0;
}
)");
  std::vector<int> x(1000, 1);
  int ends = 0;
  sum.launch(nullptr, {1000}, x.data(), &ends);
  EXPECT_EQ(ends, 1);
  x[992] = -1;
  EXPECT_THROW(sum.launch(nullptr, {1000}, x.data(), &ends), Error);
  x[992] = 1;
  for (int i = 0; i < 10; ++i) sum.launch(nullptr, {1000}, x.data(), &ends);
  EXPECT_EQ(ends, 11) << "the zeroed buffer kept what the failed launch left there";
}

TEST_F(HostServing, RefusesANumberOfTrialsThatLeavesOutTheDefault) {
  TuneOptions options;
  options.force = true;
  options.trials = 0;
  EXPECT_THAT(error_of([&] { tune(scale_, {70}, {}, options); }),
              HasSubstr("TuneOptions::trials is 0, but a tuning measures at least the default"));
  options.trials = 1;
  const TuneResult result = tune(scale_, {70}, {}, options);
  EXPECT_EQ(result.trials, 1u);
  EXPECT_EQ(result.configuration, "block=32");
}

TEST_F(HostServing, LetsWhatACallersFunctionThrowsPass) {
  TuneOptions options;
  options.force = true;
  options.on_trial = [](std::size_t, double) -> bool { throw std::invalid_argument("the caller's"); };
  EXPECT_THROW(tune(scale_, {70}, {}, options), std::invalid_argument);
}

TEST_F(HostServing, RefusesCallsThatItCannotMakeAndSaysWhy) {
  std::vector<double> doubles(1000);
  const float* const constant = y_.data();
  scale(1000, 1);  // so that some of the calls are warm
  const std::pair<std::function<void()>, const char*> cases[] = {
      {[&] { scale_.launch(nullptr, {1000}, x_.data(), y_.data()); }, "(x, y, factor)"},
      {[&] {
         scale_.launch(nullptr, {10, 10}, x_.data(), 1, y_.data());
       },
       "takes 1 sizes, 2 were given"},
      {[&] { scale_.launch(nullptr, {1000}, x_.data(), 1, doubles.data()); },
       "kernel 'scale': 'y' points to double, but T is float by another argument; all pointers to T"},
      {[&] { scale_.launch(nullptr, {1000}, x_.data(), 1, constant); },
       "'y' is written by the kernel, and the call gives a pointer to const"},
      {[&] { scale(-1, 1); }, "negative"},
      {[&] {
         (void)scale_.with({{"U", "float"}});
       },
       "U"},
      {[&] { (void)Sizes{~std::size_t{0}}; }, "18446744073709551615"}};
  for (const auto& [call, why] : cases) EXPECT_THAT(error_of(call), HasSubstr(why));
}

TEST_F(HostServing, TakesNothingButAStreamForAStream) {
  static_assert(!std::is_convertible_v<float*, Stream> && !std::is_convertible_v<void*, Stream>);
  static_assert(std::is_convertible_v<CUstream_st*, Stream> && std::is_convertible_v<std::nullptr_t, Stream>);
}

TEST_F(HostServing, RefusesToPrepareForNullInputsWhetherOrNotAPlanIsKnown) {
  const float* const nothing = nullptr;
  const auto prepare = [&] { scale_.prepare(nullptr, {700}, nothing, 1, static_cast<float*>(nullptr)); };
  EXPECT_THAT(error_of(prepare), HasSubstr("'x' is null"));
  scale_.prepare(nullptr, {700}, x_.data(), 1, static_cast<float*>(nullptr));
  EXPECT_THAT(error_of(prepare), HasSubstr("'x' is null"));
  scale_.prepare(nullptr, {700}, x_.data(), 1, nullptr);
  EXPECT_THAT(error_of([&] { scale_.launch(nullptr, {700}, nullptr, 1, nullptr); }), HasSubstr("'x' is null"));
  EXPECT_THAT(error_of([&] { scale_.launch(nullptr, {}, {700}, x_.data(), 1, nullptr); }), HasSubstr("'y' is null"));
}

TEST_F(HostServing, RefusesAKernelWithoutLaunches) {
  EXPECT_THAT(error_of([] { Kernel(KernelSpec{}); }), HasSubstr("has no launch: describe it in a kernel file"));
}

TEST_F(HostServing, ServesAResultForTheValueOfAnIntegerScalarThatItWasMeasuredWith) {
  const Kernel kernel = writer("repeat", R"(#pragma tuner scalar times : int = 2
#pragma tuner verify n=33
#pragma tuner default block=32
#pragma tuner arguments y, times, n
#pragma tuner instantiate repeat
#pragma tuner reference repeat
__global__ void repeat(float* y, int times, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = times;
}
)");
  TuneOptions options;
  options.trials = 1;
  tune(kernel, {1000}, {}, options);
  EXPECT_THAT(kernel.explain({1000}), HasSubstr("measured on this device for exactly this problem"));
  EXPECT_THAT(kernel.explain({1000}, {{"times", "2"}}), HasSubstr("for exactly this problem"));
  EXPECT_THAT(kernel.explain({1000}, {{"times", "7"}}), HasSubstr("default"));
  for (int times = 0; times < 80; ++times) {
    kernel.launch(nullptr, {1000}, y_.data(), times);
    EXPECT_THAT(y_, Each(static_cast<float>(times)));
  }
}

TEST_F(HostServing, RefusesSizesAndPointersThatTheFileExcludes) {
  const Kernel kernel = writer("ones", R"(#pragma tuner constraint multiples: n % 100 == 0
#pragma tuner aligned 16
#pragma tuner default block=32
#pragma tuner arguments y, n
#pragma tuner instantiate ones
#pragma tuner reference ones
__global__ void ones(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 1;
}
)");
  kernel.launch(nullptr, {1000}, y_.data());
  EXPECT_THAT(y_, Each(1.0f));
  const std::string why = "kernel 'ones' is not for n=950: multiples: n % 100 == 0 with n=950";
  EXPECT_EQ(error_of([&] { kernel.launch(nullptr, {950}, y_.data()); }), why);
  EXPECT_EQ(error_of([&] { (void)kernel.explain({950}); }), why);
  EXPECT_EQ(error_of([&] { tune(kernel, {950}); }), why);
  EXPECT_THAT(error_of([&] { kernel.launch(nullptr, {900}, y_.data() + 1); }),
              HasSubstr("takes pointers that are multiples of 16 bytes"));
}

TEST_F(HostServing, RefusesAKernelWhoseParameterIsNotOfTheDeclaredType) {
  const Kernel kernel = testing::kernel_named("scale", testing::replaced(kScale, "out y[n]", "out y[n] : int"));
  std::vector<int> y(1000);
  const std::string error = error_of([&] { kernel.launch(nullptr, {1000}, x_.data(), 2.0f, y.data()); });
  EXPECT_THAT(error, HasSubstr("scale.cu:11:36: "));
  EXPECT_THAT(error, HasSubstr("'y' is declared as a buffer of int, but parameter 3 of scale<float, 32> is float*"));
  EXPECT_THAT(error_of([&] { tune(kernel, {1000}); }), HasSubstr("'y' is declared as a buffer of int"));
}

TEST_F(HostServing, ServesSizesThatAConfigurationIsNotValidForWithAnother) {
  for (const std::string preset : {"#pragma tuner default block=32 width=32\n", ""}) {
    const Kernel kernel = writer(preset.empty() ? "stripesOfTheFirst" : "stripes",
                                 R"(#pragma tuner parameter width = 32 64
#pragma tuner constraint whole: width == 64 or n % 64 != 0
#pragma tuner arguments y
#pragma tuner instantiate NAME<width>
)" + preset + R"(template <int width> __global__ void NAME(float* y) { if (blockIdx.x == 0) y[threadIdx.x] = width; }
)");
    const auto width_for = [&](int n) {
      kernel.launch(nullptr, {n}, y_.data());
      return y_[0];
    };
    EXPECT_EQ(width_for(640), 64);
    EXPECT_EQ(width_for(641), 32) << "of the same class" << preset;
    EXPECT_EQ(width_for(704), 64);
    EXPECT_EQ(width_for(643), 32);
  }
}

TEST_F(HostServing, ServesEachSizeByItselfWhereTheCodeOrAMacroIsMadeForIt) {
  for (const Kernel& kernel : {writer("sized", R"(#pragma tuner arguments y
#pragma tuner default block=32
#pragma tuner instantiate sized<n>
template <int n> __global__ void sized(float* y) { if (blockIdx.x == 0) y[0] = n; }
)"),
                               writer("sizedByMacro", R"(#pragma tuner define N = n
#pragma tuner default block=32
#pragma tuner arguments y
#pragma tuner instantiate sizedByMacro
extern "C" __global__ void sizedByMacro(float* y) { if (blockIdx.x == 0) y[0] = N; }
)")}) {
    for (const int n : {100, 101, 100}) {
      kernel.launch(nullptr, {n}, y_.data());
      EXPECT_EQ(y_[0], n) << kernel.name();
    }
  }
}

TEST_F(HostServing, ServesAResultForOneSizeAloneWhereNoOtherSizeCouldBeVerified) {
  const Kernel kernel = writer("made", R"(#pragma tuner define N = n
#pragma tuner default block=32
#pragma tuner arguments y
#pragma tuner instantiate made
#pragma tuner reference default
extern "C" __global__ void made(float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = blockDim.x == 64 && N != 1000 ? 64 : 1;
}
)");
  const Sizes tuned{1000}, other{1001};
  {
    cache::Database database = cache::Database::open_user(testing::cache_folder() / "wisdom.db");
    const ProblemSize size = complete(kernel.spec(), {{{"n", 1000}}, {}});
    testing::store_best(database, context_of(kernel.spec(), size, choose_device("host").device, {}), "block=64");
  }
  kernel.launch(nullptr, tuned, y_.data());
  std::vector<float> y(1001, 0.0f);
  kernel.launch(nullptr, other, y.data());
  EXPECT_THAT(y, Each(1.0f));
  EXPECT_THAT(kernel.explain(tuned), HasSubstr("block=64"));
  EXPECT_THAT(kernel.explain(other), AllOf(HasSubstr("block=32"), HasSubstr("no other n was verified")));
}

TEST_F(HostServing, RefusesToTuneInProcessesWhatNoFileDescribes) {
  KernelSpec spec = scale_.spec();
  spec.program.text = "";
  TuneOptions options;
  options.isolated = true;
  EXPECT_THAT(error_of([&] { tune(Kernel(spec), {1000}, {}, options); }), HasSubstr("worker processes"));
}

TEST_F(HostServing, LetsTheCallbackOfATuningUseTheLibrary) {
  TuneOptions options;
  options.force = true;
  std::string explained;
  options.on_trial = [&](std::size_t, double) {
    explained = scale_.explain({90});
    scale_.launch(nullptr, {90}, x_.data(), 2, y_.data());
    return true;
  };
  tune(scale_, {90}, {}, options);
  EXPECT_THAT(explained, HasSubstr("block="));
  EXPECT_EQ(y_[89], 3.0f);
}

TEST_F(HostServing, TellsAForkedChildWhatToDo) {
  scale(1000, 2);
  const auto is_told = [](const std::function<void()>& call) {
    const std::string error = error_of(call);
    return error.find("forked") != std::string::npos && error.find("exec") != std::string::npos;
  };
  const pid_t child = testing::start_child([&] {
    return is_told([&] { scale(1000, 2); }) && is_told([&] { (void)scale_.explain({1000}); }) &&
           is_told([] { Array<float>(1); }) && is_told(&trim);
  });
  EXPECT_EQ(testing::wait_for(child), 0);
}

TEST_F(HostServing, LetsAForkedChildEndWhateverAnotherThreadDoes) {
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done) {
      configure({});
      trim();
      scale(1000, 2);
    }
  });
  const int ended = testing::children_that_end(30, [] {
    configure({});
    return code_of(&trim) == ErrorCode::context_lost;
  });
  EXPECT_EQ(ended, 30);
  done = true;
  busy.join();
}

TEST_F(HostServing, RefusesAnArrayWhoseBytesHaveNoNumber) {
  for (const std::size_t count : {SIZE_MAX / sizeof(double) + 1, SIZE_MAX})
    EXPECT_EQ(code_of([&] { Array<double> array(count); }), ErrorCode::out_of_memory) << count;
}

TEST_F(HostServing, RefusesTimesThatAreNotPositive) {
  ::unsetenv("TUNER_TUNE_TIME");
  for (const double seconds : {std::nan(""), -1.0, 0.0}) {
    Settings settings;
    settings.tune = TuneOnMiss::on_first_use;
    settings.tuning_time = std::chrono::duration<double>(seconds);
    configure(settings);
    ::setenv("TUNER_TUNE", "on_first_use", 1);
    EXPECT_EQ(code_of([&] { (void)scale_.explain({1000}); }), ErrorCode::invalid_argument) << seconds;
    ::setenv("TUNER_TUNE", "never", 1);
    configure({});
    TuneOptions options;
    options.wall_time = std::chrono::duration<double>(seconds);
    EXPECT_EQ(code_of([&] { tune(scale_, {1000}, {}, options); }), ErrorCode::invalid_argument) << seconds;
  }
}

TEST_F(HostServing, MakesAnOwnLaunchAndReadsNoKernelFileWhereNothingIsToBeRecorded) {
  int launches = 0;
  record(
      "./no such file.cu", {}, nullptr, {1000}, [&] { ++launches; }, x_.data());
  record(scale_, nullptr, {1000}, [&] { ++launches; });
  EXPECT_EQ(launches, 2);
}

TEST_F(HostServing, TunesWithTheEffortOfTheCallElseOfTheSettings) {
  // No other test tunes it, so that without measurements there is only the default.
  const Kernel untouched = testing::kernel_named("untouched", kScale);
  TuneOptions options;
  options.effort = Effort::none;
  const TuneResult untuned = tune(untouched, {4321}, {{"T", "float"}}, options);
  EXPECT_TRUE(untuned.from_cache);
  EXPECT_EQ(untuned.configuration, "block=32") << "the default";
  EXPECT_EQ(untuned.median_ns, 0);
  EXPECT_EQ(untuned.effort, Effort::none);
  options.force = true;
  EXPECT_THAT(error_of([&] {
                tune(untouched, {4321}, {{"T", "float"}}, options);
              }),
              HasSubstr("TuneOptions::force needs measurements"));
  options.force = false;
  options.metrics = {"ipc"};
  EXPECT_THAT(error_of([&] {
                tune(untouched, {4321}, {{"T", "float"}}, options);
              }),
              HasSubstr("TuneOptions::metrics needs measurements"));
  options.metrics.clear();
  ::setenv("TUNER_EFFORT", "none", 1);
  EXPECT_EQ(tune(untouched, {4321}, {{"T", "float"}}).effort, Effort::none);
  ::setenv("TUNER_EFFORT", "hard", 1);
  EXPECT_THAT(error_of([&] {
                tune(untouched, {4321}, {{"T", "float"}});
              }),
              HasSubstr("TUNER_EFFORT='hard': it is one of none, quick, normal, thorough"));
  ::unsetenv("TUNER_EFFORT");
  options.effort = Effort::thorough;
  const TuneResult tuned = tune(untouched, {4321}, {{"T", "float"}}, options);
  EXPECT_EQ(tuned.trials, 2u);
  EXPECT_EQ(tuned.effort, Effort::thorough);
  options.effort = Effort::quick;
  EXPECT_TRUE(tune(untouched, {4321}, {{"T", "float"}}, options).from_cache);
  EXPECT_EQ(tune(untouched, {4321}, {{"T", "float"}}).effort, Effort::thorough);
  options.trials = 1;
  EXPECT_THAT(error_of([&] { tune(untouched, {4321}, {{"T", "float"}}, options); }), HasSubstr("set one of them"));
}

TEST_F(HostServing, RefusesARuleWithoutMeasurementsOrWithoutSizes) {
  TuneOptions options;
  options.effort = Effort::none;
  EXPECT_THAT(error_of([&] {
                tune_together(scale_, {{1000}, {4000}}, {}, options);
              }),
              AllOf(HasSubstr("tune_together() needs measurements"), HasSubstr("TUNER_EFFORT"),
                    HasSubstr("Settings::effort"), HasSubstr("quick or more")));
  const Kernel fixed = Kernel::from_source(R"(#pragma tuner kernel fixed
#pragma tuner parameter block = 32 64
#pragma tuner out y[8] : float
#pragma tuner block block
#pragma tuner grid 1
#pragma tuner arguments y
#pragma tuner instantiate fixed
#pragma tuner reference default
#pragma tuner default block=32
extern "C" __global__ void fixed(float* y) { if (threadIdx.x < 8) y[threadIdx.x] = 1; }
)",
                                           "fixed.cu");
  EXPECT_THAT(error_of([&] { tune_together(fixed, {{}}); }), AllOf(HasSubstr("no sizes"), HasSubstr("use tune()")));
}

TEST_F(HostServing, ARuleTellsNothingOfWhatWasNotMeasured) {
  TuneOptions options;
  options.trials = 2;
  const RuleResult rule = tune_together(scale_, {{700}, {9000}}, {}, options);
  ASSERT_EQ(rule.choices.size(), 2u);
  for (const RuleResult::Choice& choice : rule.choices) {
    EXPECT_THAT(choice.median_ns, ::testing::Optional(::testing::Gt(0)));
    EXPECT_TRUE(choice.regret);
  }
  EXPECT_FALSE(rule.between) << "both sizes are ends of the range";
}

TEST_F(HostServing, TrustsAResultOnlyWhereItMeasuredItIfAMacroNamesAHeader) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "factor.h") << "#define FACTOR 2\n";
  std::ofstream(folder / "behind.cu") << testing::replaced(kScale, "NAME", "behind")
                                      << "#define QUOTED(x) #x\n#include QUOTED(factor.h)\n";
  const Kernel behind = Kernel::from_file((folder / "behind.cu").string());
  TuneOptions options;
  options.trials = 1;
  EXPECT_FALSE(tune(behind, {1000}, {}, options).from_cache);
  EXPECT_FALSE(tune(behind, {1000}, {}, options).from_cache) << "the header may have changed";
  EXPECT_THAT(behind.explain({1000}), Not(HasSubstr("default")));
  const KernelSpec spec = read_kernel_file((folder / "behind.cu").string());
  Wisdom later({});
  const cache::WisdomMatch match =
      later.lookup(spec, complete(spec, {{{"n", 1000}}, {}}), choose_device("host").device);
  EXPECT_FALSE(match);
  EXPECT_THAT(match.reason, HasSubstr("names its file by a macro"));
}

}  // namespace
}  // namespace tuner
