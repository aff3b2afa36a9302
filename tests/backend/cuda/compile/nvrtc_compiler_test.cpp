#include <thread>

#include <tests/support/environment_variable.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/cuda/run/stream_timer.hpp>
#include <tuner/backend/cuda/run/support_kernels.hpp>

#include <tests/backend/cuda/nvrtc_fixture.hpp>

namespace tuner::cuda {
namespace {

class NvrtcCompilerTest : public NvrtcTest {
 protected:
  CompileResult compile(std::string source, std::vector<std::string> expressions, std::string architecture = "sm_80") {
    return compiler_->compile(
        {std::move(source), "dir/mine.cu", std::move(expressions), {"TUNER=1"}, std::move(architecture)});
  }
};

constexpr const char* kScale = R"(
#pragma tuner kernel scale
template <typename T, int block> __global__ void scale(T* data, T factor) {
  __shared__ T staged[block];
  staged[threadIdx.x] = data[blockIdx.x * block + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * block + threadIdx.x] = staged[block - 1 - threadIdx.x] * factor;
}
)";

TEST_F(NvrtcCompilerTest, CompilesACubinForEveryArchitectureItKnows) {
  for (const std::string& architecture : known_architectures()) {
    const int number = *compute_capability(architecture);
    const std::vector<int>& known = nvrtc().architectures;
    if (std::find(known.begin(), known.end(), number) == known.end()) continue;
    SCOPED_TRACE(architecture);
    const Image cubin = image(compile(kScale, {"scale<float, 128>"}, architecture));
    EXPECT_EQ(cubin.code.at(1), std::byte{'E'}) << "a cubin is an ELF file";
    EXPECT_GT(cubin.functions.at(0).resources.registers, 0);
  }
}

TEST_F(NvrtcCompilerTest, CompilesPtxForAVirtualArchitecture) {
  const Image made = image(compile(kScale, {"scale<float, 128>"}, "compute_80"));
  const std::string ptx = text(made);
  EXPECT_THAT(ptx, AllOf(HasSubstr(".target sm_80"), HasSubstr(made.functions.at(0).symbol)));
  EXPECT_EQ(ptx.back(), '\0') << "the driver looks for the end";
  EXPECT_THAT(error(compile(kScale, {"scale<float, 128>"}, "compute_1")), HasSubstr("does not compile for"));
}

TEST_F(NvrtcCompilerTest, GivesSymbolsAndResourcesInTheOrderAskedFor) {
  const Image made = image(compile(kScale, {"scale<double, 256>", "scale<float, 64>"}));
  ASSERT_EQ(made.functions.size(), 2u);
  EXPECT_EQ(made.functions[0].expression, "scale<double, 256>");
  EXPECT_EQ(made.functions[0].symbol, "_Z5scaleIdLi256EEvPT_S0_");
  EXPECT_EQ(made.functions[0].resources.static_shared_bytes, 2048);
  EXPECT_EQ(made.functions[1].resources.static_shared_bytes, 256);
  EXPECT_EQ(made.functions[1].resources.spill_bytes, 0);
  EXPECT_EQ(made.log, "") << "`#pragma tuner` must not warn";
}

TEST_F(NvrtcCompilerTest, ReportsSpillsAndStack) {
  const CompileResult result = compile(R"(
    __global__ void __launch_bounds__(1024) crowded(float* data, int n) {
      float a[96];
      for (int i = 0; i < 96; ++i) a[i] = data[i * 7];
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < 96; ++i) a[i] = a[i] * a[(i * 31 + 7) % 96] + data[j + i];
      for (int i = 0; i < 96; ++i) data[i * 7] = a[i];
    })",
                                       {"crowded"});
  const Resources resources = image(result).functions.at(0).resources;
  EXPECT_LE(resources.registers, 64);
  EXPECT_GT(resources.spill_bytes, 0);
  EXPECT_GT(resources.stack_bytes, 0);
}

TEST_F(NvrtcCompilerTest, PointsAtTheFirstErrorInTheKernelFile) {
  const CompileResult result = compile("__global__ void f(int* p) {\n  *p = undefined_name;\n  other;\n}\n", {"f"});
  EXPECT_THAT(error(result), AllOf(StartsWith("dir/mine.cu:2: "), HasSubstr("undefined_name")));
  EXPECT_THAT(std::get<CompileError>(result).log, HasSubstr("other")) << "the log is whole";
}

TEST_F(NvrtcCompilerTest, SaysWhatTheAssemblerRefused) {
  EXPECT_THAT(
      error(compile("__global__ void f(int* p) { __shared__ int s[65536]; s[p[0]] = 1; p[1] = s[p[2]]; }", {"f"})),
      HasSubstr("262144 bytes of static shared memory"));
}

TEST_F(NvrtcCompilerTest, RefusesExpressionsThatNameNoKernel) {
  EXPECT_THAT(error(compile(kScale, {"shrink<float>"})), HasSubstr("shrink"));
  EXPECT_THAT(error(compile("__device__ int helper() { return 1; } __global__ void f(int* p) { *p = helper(); }",
                            {"f", "helper"})),
              HasSubstr("helper"));
}

TEST_F(NvrtcCompilerTest, ListsTheArchitecturesItKnowsWhenAskedForAnother) {
  for (const char* architecture : {"sm_12", "sm_999", "host", ""}) {
    EXPECT_THAT(error(compile(kScale, {"scale<float, 32>"}, architecture)),
                AllOf(HasSubstr("does not compile for '" + std::string(architecture) + "'"), HasSubstr("sm_80")));
  }
}

TEST_F(NvrtcCompilerTest, NeedsNoLinkingForAGridThatMeets) {
  if (nvrtc().includes.empty()) GTEST_SKIP() << "no cooperative_groups.h on this machine";
  for (const char* const architecture : {"sm_75", "sm_90", "sm_120"}) {
    const CompileResult result = compile(R"(
      #define _CG_LIMIT_INCLUDED_DEPENDENCIES
      #include <cooperative_groups.h>
      __global__ void meet(int* data) {
        data[blockIdx.x] = 1;
        cooperative_groups::this_grid().sync();
        if (blockIdx.x == 0) data[threadIdx.x] += data[gridDim.x - 1];
      })",
                                         {"meet"}, architecture);
    EXPECT_EQ(image(result).log, "") << architecture;
  }
}

TEST_F(NvrtcCompilerTest, PassesDefinesAndFindsTheCudaHeaders) {
  if (nvrtc().includes.empty()) GTEST_SKIP() << "no cuda_fp16.h on this machine";
  const CompileResult result = compile(R"(
    #include <cuda_fp16.h>
    #if TUNER != 1
    #error TUNER is not defined
    #endif
    __global__ void twice(__half* data) { data[threadIdx.x] = data[threadIdx.x] + data[threadIdx.x]; })",
                                       {"twice"});
  EXPECT_EQ(error(result), "");
}

TEST_F(NvrtcCompilerTest, CompilesKernelsOfFp8) {
  if (nvrtc().version < 11080) GTEST_SKIP() << "cuda_fp8.h is a part of CUDA 11.8 and later";
  if (nvrtc().includes.empty()) GTEST_SKIP() << "no cuda_fp8.h on this machine";
  const CompileResult result = compile(R"(
    #include <cuda_fp8.h>
    template <typename T, typename T4>
    __global__ void narrow(T* to, const T4* from) { to[threadIdx.x] = T(static_cast<float4>(from[threadIdx.x]).y); })",
                                       {"narrow<__nv_fp8_e5m2, __nv_fp8x4_e4m3>"});
  EXPECT_EQ(error(result), "");
}

TEST_F(NvrtcCompilerTest, CompilesKernelsOfFp6AndFp4) {
  if (nvrtc().version < 12080) GTEST_SKIP() << "cuda_fp4.h is a part of CUDA 12.8 and later";
  if (nvrtc().includes.empty()) GTEST_SKIP() << "no cuda_fp4.h on this machine";
  const CompileResult result = compile(R"(
    #include <cuda_fp4.h>
    __global__ void narrow(__nv_fp4x2_e2m1* to, const __nv_fp6_e3m2* from, const __nv_fp8_e8m0* scale) {
      const float x = float(from[threadIdx.x]) * float(scale[0]);
      to[threadIdx.x] = __nv_fp4x2_e2m1(make_float2(x, -x));
    })",
                                       {"narrow"});
  EXPECT_EQ(error(result), "");
}

TEST_F(NvrtcCompilerTest, NamesAHeaderThatIsMissingWithItsPlaceAndAWayOut) {
  EXPECT_THAT(error(compile("typo t;\n#include \"types.h\"\n__global__ void k(int* x) { *x = 1; }\n", {"k"})),
              AllOf(HasSubstr("(2): "), HasSubstr("cannot open source file \"types.h\""), HasSubstr("include_path")));
}

TEST_F(NvrtcCompilerTest, NamesAllMissingHeadersAtOnce) {
  EXPECT_THAT(error(compile("#include \"a.h\"\n#include <b/c.h>\n#if 0\n#include \"not.h\"\n#endif\nint main() {}\n"
                            "#include \"d.h\"\n__global__ void k(int* x) { *x = 1; }\n",
                            {"k"})),
              AllOf(HasSubstr("(1): "), HasSubstr("\"a.h\", and also missing: \"b/c.h\", \"d.h\": name"),
                    Not(HasSubstr("not.h"))));
}

TEST_F(NvrtcCompilerTest, CompilesIntegersOf128Bits) {
  EXPECT_EQ(error(compile("__global__ void k(int* x) { unsigned __int128 v = *x; v *= v; *x = int(v >> 70); }", {"k"})),
            "");
}

TEST_F(NvrtcCompilerTest, GivesAConfigurationTheSameImageAfterAnother) {
  const char* source = R"(
#include <vector>
#if later
__device__ float2 both(float a) { return {.x = a, .y = a}; }
#else
__device__ float2 both(float a) { return {a, __cplusplus > 201703L ? 1.0f : 2.0f}; }
#endif
std::vector<float> all;
void fill() { cudaMalloc(nullptr, all.size()); }
__global__ void k(float2* x) { *x = both(__cplusplus); }
)";
  CompileRequest request{source, "mine.cu", {"k"}, {}, "sm_80"};
  request.macros = {"later=0"};
  const auto alone = image(make_nvrtc_compiler(nvrtc())->compile(request)).code;
  request.macros = {"later=1"};
  EXPECT_EQ(error(compiler_->compile(request)), "");
  request.macros = {"later=0"};
  EXPECT_EQ(image(compiler_->compile(request)).code, alone);
}

TEST_F(NvrtcCompilerTest, HasTheHalfOfCublasAndTheOperatorsThatCubLeftOut) {
  if (nvrtc().includes.empty()) GTEST_SKIP() << "no headers of the toolkit on this machine";
  image(compile("#include <cublas_v2.h>\n__global__ void k(half* x) { *x = half(1); }\n", {"k"}));
  image(compile(R"(#include <cub/block/block_reduce.cuh>
__global__ void k(float* x) {
  using Reduce = cub::BlockReduce<float, 64>;
  __shared__ typename Reduce::TempStorage storage;
  *x = Reduce(storage).Reduce(*x, cub::Max()) + cub::Sum()(1, 2) + cub::Min()(1, 2);
})",
                {"k"}));
}

TEST_F(NvrtcCompilerTest, ReadsClassesWithMembersOfTheHostsLibraryBesideAKernel) {
  const char* source = R"(
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
struct Options { std::string name; std::vector<int> sizes; FILE* log; std::string_view view; std::ostream* out; };
class Failure : public std::exception {
 public:
  explicit Failure(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};
struct Range {
  int begin, end;
  Range(const std::string& text);
  static std::map<std::string, std::unique_ptr<Range>> all;
  void print(const std::function<void(int)>& to) const { to(std::stoi(name())); }
  std::string name() const;
  __host__ __device__ int size() const { return end - begin; }
};
inline std::ostream& operator<<(std::ostream& out, const Range& range) { return out << range.begin << std::endl; }
__global__ void k(Range* range, float* x) { x[0] = std::pow(x[1], 2.0) + sqrt(range->size()); }
int main() { std::vector<float> values(3); for (float value : values) std::cout << value << "\n"; }
)";
  EXPECT_EQ(error(compile(source, {"k"})), "");
}

TEST_F(NvrtcCompilerTest, SaysWhichMemberOfAStructThatAKernelUsesIsTheHosts) {
  const char* source = R"(
#include <string>
#include <vector>
struct Body {
  float mass;
  std::string name;
};
std::vector<Body> all;
void fill(Body* at) { cudaMemcpy(at, all.data(), sizeof(Body), cudaMemcpyHostToDevice); }
__global__ void k(const Body* bodies, float* x) { x[0] = bodies[1].mass; }
)";
  const CompileResult result = compile(source, {"k"});
  EXPECT_THAT(error(result),
              AllOf(StartsWith("dir/mine.cu:6: namespace \"std\" has no member \"string\""),
                    HasSubstr("left out as host code: dir/mine.cu:8: std::vector<Body> all;, and 1 more")));
  EXPECT_THAT(std::get<CompileError>(result).log, HasSubstr("dir/mine.cu:9: void fill("));
}

TEST_F(NvrtcCompilerTest, LeavesNamesOfCubAndTorchToTheAuthor) {
  if (nvrtc().includes.empty()) GTEST_SKIP() << "no headers of the toolkit on this machine";
  image(compile(R"(#include <cub/block/block_reduce.cuh>
using namespace cub;
struct Max { __device__ float operator()(float a, float b) const { return a < b ? b : a; } };
__global__ void k(float* x) {
  using Reduce = BlockReduce<float, 64>;
  __shared__ typename Reduce::TempStorage storage;
  const uint first = 0;
  x[first] = Reduce(storage).Reduce(x[threadIdx.x], Max());
})",
                {"k"}));
  image(compile(R"(#include <torch/extension.h>
namespace torch { struct Tensor { float* data; }; }
struct Both { torch::Tensor tensor; at::Half* half; };
__global__ void k(Both x) { x.tensor.data[0] = sizeof(at::Half); }
)",
                {"k"}));
}

TEST_F(NvrtcCompilerTest, GivesTheSameImageForTheSameRequestAndNamesItself) {
  EXPECT_EQ(image(compile(kScale, {"scale<float, 32>"})).code, image(compile(kScale, {"scale<float, 32>"})).code);
  EXPECT_THAT(compiler_->identity(), AllOf(HasSubstr("nvrtc "), HasSubstr("--std=c++17")));
}

TEST_F(NvrtcCompilerTest, GivesNvrtcNoOptionThatTheKeyOfImagesLacks) {
  static std::vector<std::string> given;
  Nvrtc listening = nvrtc();
  listening.nvrtcCompileProgram = [](nvrtcProgram program, int count, const char* const* options) {
    given.assign(options, options + count);
    return nvrtc().nvrtcCompileProgram(program, count, options);
  };
  image(make_nvrtc_compiler(listening)->compile({kScale, "mine.cu", {"scale<float, 32>"}, {}, "sm_80"}));
  EXPECT_THAT(given, Contains("--ptxas-options=-v"));
  for (const std::string& option : given) {
    if (option.starts_with("--gpu-architecture=") || option.starts_with("--include-path=")) continue;
    EXPECT_THAT(own_part_of_images(), HasSubstr(option));
  }
}

constexpr const char* kManyRegisters = R"(
template <int block, int min_blocks> __global__ void __launch_bounds__(block, min_blocks) bounded(float* x, int n);
__device__ void body(float* x, int n) {
  float a[40];
  for (int i = 0; i < 40; ++i) a[i] = x[i * n];
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 40; ++i) a[i] = a[i] * a[(i + 7) % 40] / x[k];
  for (int i = 0; i < 40; ++i) x[i * n] = a[i];
}
__global__ void plain(float* x, int n) { body(x, n); }
template <int block, int min_blocks> __global__ void __launch_bounds__(block, min_blocks) bounded(float* x, int n) {
  body(x, n);
})";

TEST_F(NvrtcCompilerTest, CapsRegistersByAnOptionOrByTheBlocksOfAMultiprocessor) {
  const auto registers = [&](const char* expression, std::vector<CompileOption> options) {
    CompileRequest request{kManyRegisters, "mine.cu", {expression}, {}, "sm_90"};
    request.options = std::move(options);
    return image(compiler_->compile(request)).functions[0].resources.registers;
  };
  EXPECT_GT(registers("plain", {}), 40);
  EXPECT_EQ(registers("plain", {{"--maxrregcount=32", {}}}), 32);
  EXPECT_GT(registers("bounded<128, 0>", {}), 40) << "0 blocks: no bound";
  EXPECT_LE(registers("bounded<128, 16>", {}), 32);
  EXPECT_GT(registers("bounded<128, 0>", {{"--maxrregcount=32", {}}}), 40) << "launch bounds end the cap";
}

TEST_F(NvrtcCompilerTest, CompilesWithFastArithmeticAndWithoutOptimisation) {
  CompileRequest request{kManyRegisters, "mine.cu", {"plain"}, {}, "sm_90"};
  const auto ptx = [&] { return std::get<std::string>(compile_to_ptx(nvrtc(), request)); };
  EXPECT_THAT(ptx(), HasSubstr("div.rn.f32"));
  request.options = {{"-use_fast_math", {}}};
  EXPECT_THAT(ptx(), HasSubstr("div.approx.ftz.f32"));
  request.options = {{"--device-debug", {}}};
  EXPECT_THAT(ptx(), HasSubstr(".target sm_90, debug"));
  EXPECT_GT(image(compiler_->compile(request)).functions[0].resources.stack_bytes, 0) << "variables live in memory";
}

TEST_F(NvrtcCompilerTest, TakesKernelsAsCxx20IfAnOptionSaysSo) {
  CompileRequest request{"__device__ consteval int one() { return 1; }\n__global__ void f(int* x) { *x = one(); }",
                         "mine.cu",
                         {"f"},
                         {},
                         "sm_90"};
  EXPECT_NE(error(compiler_->compile(request)), "");
  request.options = {{"--std=c++20", {}}};
  EXPECT_EQ(image(compiler_->compile(request)).functions.size(), 1u);
}

TEST_F(NvrtcCompilerTest, PointsAtTheOptionThatItDoesNotKnowOrCannotRead) {
  CompileRequest request{"__global__ void f() {}", "mine.cu", {"f"}, {}, "sm_90"};
  request.options = {{"-use_fast_math", {"mine.cu", 2, 23}}, {"--use-fast-maths", {"mine.cu", 3, 23}}};
  EXPECT_EQ(error(compiler_->compile(request)),
            "mine.cu:3:23: nvrtc: error: unrecognized option --use-fast-maths found");
  request.options = {{"-w", {}}, {"-maxrregcount=few", {"mine.cu", 4, 23}}};
  EXPECT_EQ(error(compiler_->compile(request)),
            "mine.cu:4:23: nvrtc: error: --maxrregcount (-maxrregcount) expects an integer value");
}

TEST_F(NvrtcCompilerTest, HidesTheMacrosOfTheKernelFromItsOwnHeadersAndKeepsItsLines) {
  CompileRequest request{R"(
#ifndef block_size_x
#define block_size_x 128
#endif
extern "C" __global__ void add(T* c, const T* a, int n) {
  __shared__ T staged[block_size_x];
#if unroll > 1 && padded == true
  staged[threadIdx.x] = a[threadIdx.x];
  c[threadIdx.x] = staged[n];
#endif
})",
                         "dir/mine.cu",
                         {"add"},
                         {"TUNER=1"},
                         "sm_80"};
  request.macros = {"T=unsigned long long", "block_size_x=64", "unroll=2", "padded=true"};
  const CompiledFunction add = image(compiler_->compile(request)).functions[0];
  EXPECT_EQ(add.symbol, "add");
  EXPECT_EQ(add.resources.static_shared_bytes, 64 * 8);
  request.macros.pop_back();
  EXPECT_EQ(image(compiler_->compile(request)).functions[0].resources.static_shared_bytes, 0);
  request.macros = {"T=float"};
  request.source += "\n__device__ int x = undefined_name;\n__global__ void g() { x = 1; }\n";
  request.expressions = {"g"};
  EXPECT_THAT(error(compiler_->compile(request)), StartsWith("dir/mine.cu:12: "));
}

TEST_F(NvrtcCompilerTest, CompilesInSeveralThreadsAtOnce) {
  std::vector<CompileResult> results(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = compile(kScale, {"scale<float, " + std::to_string(32 << i) + ">"}); });
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(image(results[i]).functions[0].resources.static_shared_bytes, 4 * (32 << i));
  }
}

TEST_F(NvrtcCompilerTest, CompilesTunersOwnKernels) {
  for (const int number : {nvrtc().architectures.front(), nvrtc().architectures.back()}) {
    const std::string architecture = architecture_name(number);
    for (const CompileRequest& request :
         {DataKernels::request(architecture), StreamTimer::request(architecture),
          support_request("streaming.cu", {"tuner_support::read<8>", "tuner_support::copy<4>"}, architecture)})
      EXPECT_EQ(error(compiler_->compile(request)), "") << request.file_name;
  }
}

TEST(SupportKernels, AreCompiledOnceForAllProcessesWithOneCompiler) {
  struct Counting : Compiler {
    CompileResult compile(const CompileRequest& request) override {
      ++compiles;
      return Image{{std::byte{1}, std::byte{2}}, {{request.expressions.at(0), "symbol", {}}}, {}};
    }
    std::string identity() const override { return name; }
    std::string name = "one";
    int compiles = 0;
  };
  const testing::TemporaryFolder folder;
  const testing::EnvironmentVariable cache("TUNER_CACHE_DIR", folder.path().string());
  Counting compiler;
  const CompileRequest request = support_request("streaming.cu", {"tuner_support::read<8>"}, "sm_90");
  for (int i = 0; i < 2; ++i) {
    const auto image = std::get<Image>(compile_support(compiler, request));
    EXPECT_EQ(image.code, (std::vector{std::byte{1}, std::byte{2}}));
    EXPECT_EQ(image.functions.at(0).symbol, "symbol");
  }
  EXPECT_EQ(compiler.compiles, 1);
  compiler.name = "another";
  (void)compile_support(compiler, request);
  EXPECT_EQ(compiler.compiles, 2);
}

}  // namespace
}  // namespace tuner::cuda
