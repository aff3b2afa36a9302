/// NVRTC with headers of the C and C++ libraries, and with files that contain more than kernels.

#include <tuner/backend/cuda/compile/device_headers.hpp>
#include <tuner/core/cpp/includes.hpp>

#include <cache/records/sha256.hpp>

#include <tests/support/temporary_folder.hpp>

#include <tests/backend/cuda/nvrtc_fixture.hpp>

namespace tuner::cuda {
namespace {

TEST(HeaderFiles, HaveTheDigestsOfTheirTexts) {
  for (const HeaderFile& file : header_files()) EXPECT_EQ(file.sha256, cache::sha256_hex(file.text)) << file.name;
}

class DeviceHeadersTest : public NvrtcTest {
 protected:
  /// NVRTC's error for \p request; empty: it compiles.
  std::string why_not(const CompileRequest& request) {
    const CompileResult result = compiler_->compile(request);
    const auto* const error = std::get_if<CompileError>(&result);
    return error != nullptr ? error->message + '\n' + error->log : std::get<Image>(result).log;
  }
  std::string why_not(const std::string& source, const std::string& expression = "k") {
    return why_not({source, "dir/mine.cu", {expression}, {"TUNER=1"}, "sm_80"});
  }
  /// Checks that \p source compiles as the kernel k of \p file, with included files read by NVRTC and read before.
  void expect_compiles(const std::string& source, const std::filesystem::path& file) {
    CompileRequest request{source, file.string(), {"k"}, {}, "sm_80"};
    EXPECT_EQ(why_not(request), "") << "as a compile worker is asked";
    request.includes = std::make_shared<Includes>(included_files(request.source, request.file_name));
    EXPECT_EQ(why_not(request), "");
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(DeviceHeadersTest, GiveKernelsWhatTheCAndCppLibrariesGiveThem) {
  EXPECT_EQ(why_not(R"(
    #include <assert.h>
    #include <float.h>
    #include <limits.h>
    #include <math.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <algorithm>
    #include <cassert>
    #include <cfloat>
    #include <climits>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <cstdio>
    #include <cstdlib>
    #include <cstring>
    #include <ctime>
    #include <cuda.h>
    #include <cuda_runtime.h>
    #include <iostream>
    #include <limits>
    #include <string>
    #include <type_traits>
    #include <utility>
    #include <vector>
    static_assert(std::numeric_limits<float>::infinity() > FLT_MAX && std::numeric_limits<int>::max() == INT_MAX);
    static_assert(std::is_same_v<std::make_index_sequence<3>, std::index_sequence<0, 1, 2>>);
    static_assert(std::is_same_v<std::decay_t<const int&>, int> && std::is_signed_v<int> && !std::is_signed_v<int*>);
    static_assert(std::is_same_v<std::conditional_t<std::is_integral<char>::value, int8_t, float>, signed char>);
    static_assert(sizeof(std::uint64_t) == 8 && UINT64_MAX > INT64_MAX && CHAR_BIT == 8 && CUDA_VERSION >= 11000);
    static_assert(std::is_convertible_v<int, double> && std::is_base_of_v<int, int> == false);
    static_assert(offsetof(float4, y) == 4);
    template <typename T> __device__ std::enable_if_t<std::is_floating_point<T>::value, T> half_of(T x) { return x / 2; }
    __global__ void k(float* x, std::uint32_t* n) {
      std::pair<int, float> both = std::make_pair(1, 2.0f);
      std::swap(x[0], x[1]);
      x[2] = std::sqrt(x[2]) + std::abs(x[3]) + std::max(x[4], static_cast<float>(M_PI)) + INFINITY + both.second;
      x[3] = half_of(x[3]) + std::numeric_limits<double>::lowest() + std::isnan(x[5]) + HUGE_VAL + NAN;
      assert(n[0] > 0);
      if (n[1] > 3) printf("%u\n", n[1]);
      memcpy(x, n, sizeof(float));
      n[0] = static_cast<uint8_t>(n[0]) + static_cast<std::size_t>(2);
    })"),
            "");
}

TEST_F(DeviceHeadersTest, StandBesideTheToolkitsOwn) {
  if (nvrtc().includes.empty()) GTEST_SKIP() << "no headers of a toolkit on this machine";
  EXPECT_EQ(why_not(R"(
    #include <cmath>
    #include <cstdint>
    #include <limits>
    #include <type_traits>
    #include <array>
    #include <tuple>
    #include <cuda_fp16.h>
    #include <cuda/std/cstdint>
    #include <cuda/std/climits>
    #include <cuda/std/cmath>
    #include <cuda/std/type_traits>
    __global__ void k(int64_t* x) {
      std::array<int, 3> a{1, 2, 3};
      auto [b, c] = std::make_tuple(1, 2.0f);
      x[0] = a[x[1]] + b + static_cast<int>(c) + static_cast<cuda::std::int64_t>(std::sqrt(2.0f));
    })"),
            "");
}

TEST_F(DeviceHeadersTest, GiveWayToAFileOfTheirNameBesideTheKernel) {
  folder_.write("stdint.h", "#define BESIDE 1\n");
  expect_compiles("#include \"stdint.h\"\n__global__ void k(int* x) { *x = BESIDE; }", folder_ / "k.cu");
}

TEST_F(DeviceHeadersTest, AreThoseThatNvccIncludesWhereAFileIncludesNothing) {
  constexpr const char* kernel =
      "__extension__ typedef long long wide;\n"
      "__global__ void k(float* x) { uint a = 1; ushort b = 2; uint8_t c = 3; wide d = INT_MAX;\n"
      "  x[0] = a + b + c + d + INFINITY + NAN + M_PI + FLT_MAX; }\n";
  const std::filesystem::path file = folder_ / "k.cu";
  expect_compiles(kernel, file);
  expect_compiles(std::string(kernel) + "int main() { k<<<1, 1>>>(nullptr); }\n", file);
  expect_compiles("typedef unsigned long long ulong;\n__global__ void k(ulong* x) { *x = 1; }\nvoid f() { throw 1; }\n",
                  file);
  const CompileRequest request{"__global__ void k(float* x) { x[0] = missing; }", "k.cu", {"k"}, {}, "sm_80"};
  EXPECT_THAT(why_not(request), HasSubstr("\"missing\" is undefined"));
  expect_compiles(
      "__global__ void k(unsigned* x) { *x = std::min(reinterpret_cast<std::uintptr_t>(x), std::uintptr_t{2}); }\n"
      "typename std::aligned_storage<8, 8>::type* kept;\nvoid f(uint8_t a) { throw a; }\n",
      file);
}

TEST_F(DeviceHeadersTest, OfNvccHideNoErrorThatIsLeft) {
  const CompileRequest request{"__global__ void k(uint8_t* x) { x[0] = x.y; }", "k.cu", {"k"}, {}, "sm_80"};
  EXPECT_THAT(why_not(request), HasSubstr("expression must have class type"));
}

TEST_F(DeviceHeadersTest, StandBesideTheFilesThatARequestCarries) {
  CompileRequest request{
      "#include \"inc/near.h\"\n#include <named.h>\n__global__ void k(int* x) { *x = near_one() + kNamed; }",
      "/nowhere/kernels/k.cu",
      {"k"},
      {},
      "sm_80"};
  request.include_paths = {"/nowhere/include"};
  EXPECT_THAT(why_not(request), HasSubstr("near.h"));
  request.carried = {
      {"/nowhere/kernels/inc/near.h",
       "#include \"detail/far.h\"\n#include <cstdint>\n__device__ int near_one() { return far_one(); }\n"},
      {"/nowhere/kernels/inc/detail/far.h", "#include \"../deep.h\"\n__device__ int far_one() { return kDeep; }\n"},
      {"/nowhere/kernels/inc/detail/../deep.h", "constexpr int kDeep = 1;\n"},
      {"/nowhere/include/named.h", "constexpr int kNamed = 2;\n"}};
  EXPECT_EQ(why_not(request), "");
  request.carried.back().text = "constexpr int kNamed = missing;\n";
  EXPECT_THAT(why_not(request), HasSubstr("named.h(1)"));
  request.carried.back().text = "constexpr int kNamed = 2;\nvoid of_the_host() { throw 1; }\n";
  EXPECT_EQ(why_not(request), "") << "host functions are left out of them too";
}

TEST_F(DeviceHeadersTest, ChangeNothingForKernelsThatIncludeNone) {
  const CompileRequest request{"__global__ void k(float* x) { x[0] = sqrtf(x[1]); }", "k.cu", {"k"}, {}, "sm_80"};
  EXPECT_THAT(std::get<std::string>(compile_to_ptx(nvrtc(), request)), HasSubstr("sqrt.rn.f32"));
  EXPECT_THAT(compiler_->identity(), HasSubstr("; headers "));
}

constexpr const char* kProgram = R"(#include <cuda_runtime.h>
#include <iostream>
#include <vector>
using namespace std;
#define CHECK(call) if ((call) != cudaSuccess) exit(1)
#ifndef block_size_x
#define block_size_x 128
#endif
constexpr int rounded(int n) { return (n + block_size_x - 1) / block_size_x; }
struct Pair {
  float a, b;
  float sum() const { return a + b; }
};
extern "C" __global__ void k(float* x, int n) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) x[i] = Pair{x[i], 1.0f}.sum() * rounded(n);
}
template <typename T> void print(const vector<T>& values) { for (auto& v : values) cout << v << endl; }
__host__ static float* buffer(int n) { float* p; CHECK(cudaMalloc(&p, n * 4)); return p; }
int main(int argc, char** argv) {
  vector<float> host(1024);
  float* x = buffer(1024);
  k<<<8, block_size_x>>>(x, 1024);
  CHECK(cudaDeviceSynchronize());
  print(host);
  return 0;
}
)";

TEST_F(DeviceHeadersTest, LetProgramsCompileWithoutTheirHostFunctions) {
  EXPECT_EQ(why_not(kProgram), "");
  EXPECT_EQ(why_not(kProgram), "") << "and again, known by then";
  const std::string bad = std::string(kProgram) + "__global__ void bad() { undeclared; }\n";
  EXPECT_THAT(why_not(bad, "bad"), StartsWith("dir/mine.cu:28: identifier \"undeclared\" is undefined"));
  EXPECT_EQ(why_not(bad), "") << "another kernel is not needed";
}

TEST_F(DeviceHeadersTest, LetHeadersBesideTheKernelHoldHostFunctions) {
  folder_.write("common/util.h",
                "#pragma once\n#include <vector>\n#include <cstdio>\n"
                "inline float host(std::vector<float>& x) { return x[0]; }\n"
                "inline __device__ float twice(float x) { return 2 * x; }\n");
  expect_compiles("#include \"common/util.h\"\n__global__ void k(float* x) { *x = twice(*x); }", folder_ / "k.cu");
}

TEST_F(DeviceHeadersTest, KeepHeadersOfOneNameInTheirFolders) {
  folder_.write("kernels/a/config.h", "enum { in_a = 1 };\nvoid host() { exit(1); }\n");
  folder_.write("kernels/config.h", "enum { beside = 2 };\n");
  folder_.write("kernels/a/math.h", "enum { own_math = 4 };\n");
  folder_.write("include/far.h", "enum { far_away = 3 };\nvoid more() { exit(1); }\n");
  expect_compiles(
      "#include \"a/config.h\"\n#include \"config.h\"\n#include <math.h>\n#include \"a/math.h\"\n"
      "#include \"../include/far.h\"\n"
      "__global__ void k(float* x) { *x = sqrtf(in_a + beside + far_away + own_math); }",
      folder_ / "kernels/k.cu");
}

TEST_F(DeviceHeadersTest, AreThoseOfTheFirstFolderThatHasTheirName) {
  folder_.write("b/size.h", "constexpr int kOther = 3;\n");
  folder_.write("a/size.h", "constexpr int kSize = 3;\n");
  folder_.write("b/launch.h", "void start() { k<<<1, 1>>>(nullptr); }\n");
  CompileRequest request{
      "#include \"b/size.h\"\n#include <launch.h>\n#include <size.h>\n"
      "__global__ void k(int* x) { *x = kSize + kOther; }\n",
      (folder_ / "k.cu").string(),
      {"k"},
      {},
      "sm_80"};
  request.include_paths = {(folder_ / "a").string(), (folder_ / "b").string()};
  request.includes =
      std::make_shared<Includes>(included_files(request.source, request.file_name, request.include_paths));
  EXPECT_EQ(why_not(request), "");
}

TEST_F(DeviceHeadersTest, IncludeTheToolkitsOfTheirOwnName) {
  folder_.write("limits.h", "#ifndef OWN\n#define OWN\n#include <limits.h>\nconstexpr int own = INT_MAX;\n#endif\n");
  folder_.write("cuda_fp16.h", "#pragma once\n#include <cuda_fp16.h>\ninline __device__ half one() { return 1; }\n");
  expect_compiles(
      "#include \"limits.h\"\n#include \"cuda_fp16.h\"\n#include \"/nowhere/cuda/include/cuda_runtime.h\"\n"
      "__global__ void k(float* x) { *x = float(one()) + own; }",
      folder_ / "k.cu");
}

TEST_F(DeviceHeadersTest, FindHeadersByTheirNamesInEachOthersFolders) {
  folder_.write("inc/lib/a.h", "#include \"detail/b.h\"\n#include \"./detail/c.h\"\nvoid host() { exit(1); }\n");
  folder_.write("inc/lib/detail/b.h", "enum { inner = 1 };\n");
  folder_.write("inc/lib/detail/c.h", "enum { dotted = 2 };\n");
  expect_compiles("#include \"inc/lib/a.h\"\n__global__ void k(int* x) { *x = inner + dotted; }", folder_ / "k.cu");
}

TEST_F(DeviceHeadersTest, AreReadOnceUnderAllTheirNames) {
  folder_.write("inc/lib/a.h", "#pragma once\n#include \"detail/b.h\"\nvoid host() { exit(1); }\n");
  folder_.write("inc/lib/detail/b.h", "#pragma once\n#include \"./c.h\"\nstruct B { int b; };\n");
  folder_.write("inc/lib/detail/c.h",
                "# pragma once\n#include \"../a.h\"\n#include \"../detail/b.h\"\nenum { one = 1 };\n");
  expect_compiles("#include \"inc/lib/a.h\"\n#include \"inc/lib/detail/c.h\"\n__global__ void k(int* x) { *x = one; }",
                  folder_ / "k.cu");
}

TEST_F(DeviceHeadersTest, AreThoseBesideTheFileThatIncludesThem) {
  folder_.write("a/use.h", "#include \"types.h\"\nvoid host() { exit(1); }\n");
  folder_.write("b/use.h", "#include \"types.h\"\n");
  folder_.write("a/types.h", "enum { a = 1 };\n");
  folder_.write("b/types.h", "enum { b = 1 };\n");
  CompileRequest request{"#include \"a/use.h\"\n#include \"b/use.h\"\n__global__ void k(int* x) { *x = a + b; }",
                         (folder_ / "k.cu").string(),
                         {"k"},
                         {},
                         "sm_80"};
  EXPECT_EQ(why_not(request), "");
}

TEST_F(DeviceHeadersTest, GiveWayToTheMacrosOfParameters) {
  folder_.write("config.h", "#define TILE 4\nstatic const int ROWS = 1;\n");
  CompileRequest request{
      "#include \"config.h\"\nstatic_assert(TILE == 8 && ROWS == 2);\n__global__ void k(int* x) { *x = TILE; }",
      (folder_ / "k.cu").string(),
      {"k"},
      {},
      "sm_80"};
  request.macros = {"TILE=8", "ROWS=2"};
  EXPECT_EQ(why_not(request), "");
}

TEST_F(DeviceHeadersTest, LetClassesOfTheHostBe) {
  EXPECT_EQ(why_not("#include <string>\n#include <sys/time.h>\n#include <bits/stdc++.h>\n#include <cublas_v2.h>\n"
                    "struct Options { std::string name; };\nstruct timeval started;\ncublasHandle_t handle;\n"
                    "struct Buffer { float* p; Buffer() { cudaMalloc(&p, 4); } ~Buffer() { cudaFree(p); } };\n"
                    "typedef cudaStream_t queue;\nstruct Mesh { queue s; };\nvoid stop() { cudaDeviceReset(); }\n"
                    "__global__ void k(int* x) { register int y = 1; *x = y; }"),
            "");
}

TEST_F(DeviceHeadersTest, HaveTheDeviceFunctionsOfCurand) {
  EXPECT_EQ(
      why_not(
          "#include <curand.h>\n#include <curand_kernel.h>\n#include <random>\n"
          "const unsigned none = std::numeric_limits<unsigned>::max();\n"
          "__global__ void k(float* x) { curandState s; curand_init(1, 2, 0, &s); *x = curand_uniform(&s) * none; }"),
      "");
}

TEST_F(DeviceHeadersTest, LetClassesOfTheHostHaveStringsByTheirShortName) {
  EXPECT_EQ(why_not("#include <string>\nusing namespace std;\nstruct Host { string path; void read(string name); };\n"
                    "string upper(const string& text) { string all = text; return all + text.substr(1); }\n"
                    "__global__ void k(int* x) { *x = 1; }"),
            "");
}

TEST_F(DeviceHeadersTest, TakeDesignatorsAsNvccDoes) {
  EXPECT_EQ(why_not("__device__ float2 both(float a) { return {.x = a, .y = a}; }\n"
                    "__global__ void k(float2* x) { *x = both(2); }"),
            "");
}

}  // namespace
}  // namespace tuner::cuda
