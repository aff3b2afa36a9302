/// NVRTC and the code for the host that stands beside kernels.

#include <filesystem>
#include <sstream>

#include <tests/support/temporary_folder.hpp>

#include <tests/backend/cuda/nvrtc_fixture.hpp>

namespace tuner::cuda {
namespace {

class HostCodeBesideKernels : public NvrtcTest {
 protected:
  /// NVRTC's error for the kernel k; empty: it compiles.
  std::string why_not(const std::string& source) {
    const CompileResult result = compiler_->compile({source, "dir/mine.cu", {"k"}, {}, "sm_80"});
    const auto* const error = std::get_if<CompileError>(&result);
    return error != nullptr ? error->message + '\n' + error->log : std::string();
  }
};

constexpr const char* kKernel = "\n__global__ void k(float* x) { x[threadIdx.x] = 1; }\n";

/// What programs have beside their kernels, and nvcc accepts.
constexpr const char* kHostCode[] = {
    // Names that stand for types of the host.
    "#include <chrono>\nusing wall_clock = std::chrono::steady_clock;",
    "#include <chrono>\ntypedef std::chrono::time_point<std::chrono::system_clock> moment;\nmoment start;",
    "#include <cublasLt.h>\nusing matmul = cublasLtMatmulDesc_t;\nstruct Plan { matmul m; int n; };\nPlan plan;",
    "#include <cuda_runtime.h>\nusing launch_config = cudaLaunchConfig_t;\ntypedef cudaGraphExec_t graph;",
    "#include <vector>\ntemplate <class T> using List = std::vector<T>;\nList<int> all;\nusing std::vector;",
    "#include <map>\nnamespace a { namespace b { using Names = std::map<int, const char*>; } using b::Names; }\n"
    "a::Names names;",
    "#include <filesystem>\nnamespace fs = std::filesystem;\nstatic fs::path folder;",
    "#include <functional>\ntypedef std::function<void(int)> Callback;\nvoid on(Callback c) { c(1); }",
    // Tables of what only the host knows.
    "#include <string>\nstatic const std::string names[] = {\"a\", \"b\"};",
    "#include <map>\n#include <string>\nconst std::map<std::string, int> kIds = {{\"a\", 1}, {\"b\", 2}};",
    "#include <utility>\n#include <string>\nstd::pair<int, std::string> table[] = {\n  {1, \"a\"},\n  {2, \"b\"},\n};",
    "struct Entry { const char* name; void (*run)(); };\nvoid one() { cudaDeviceSynchronize(); }\n"
    "static Entry entries[] = {{\"one\", one}, {\"none\", nullptr}};",
    "#define ERRORS(X) X(cudaErrorNotReady) X(cudaErrorUnknown2)\n#define ROW(e) {e, #e},\n"
    "static struct { int code; const char* name; } errors[] = {ERRORS(ROW)};",
    "int host(int x) { return getpid() + x; }\nint (*pointer)(int) = host;\nint (*const all[])(int) = {host, host};",
    "const float3 kUp = normalised(make_float3(0, 1, 0));\nstatic float scale = logf_of_host(3);",
    // Types that need functions of the host.
    "namespace d { template <class T> auto make(T t) -> T* { return nullptr; } }\n"
    "template <class T> struct Holder { using P = decltype(d::make<T>(T{})); P p; };\n"
    "inline void wait() { cudaDeviceSynchronize(); }\nHolder<float> holder;",
    "int host() noexcept { return rand(); }\nstruct Fast { static constexpr bool is = noexcept(host()); };\n"
    "static_assert(noexcept(host()), \"\");\nusing R = decltype(host());\nR result;",
    "#include <string>\nstatic_assert(sizeof(std::string) >= 8, \"\");\nenum { kBytes = sizeof(std::string) };\n"
    "char buffer[kBytes];",
    "auto lazy() { return std_like::vector<int>(); }\nusing L = decltype(lazy());\nL lists[2];",
    // Classes.
    "#include <string>\nclass Log { std::string name; public: Log(std::string n) : name(n) {} ~Log(); };\n"
    "Log::~Log() { puts(name.c_str()); }\nstruct Both : Log { int level; };\nstatic Both both(\"x\");",
    "struct Timer { cudaEvent_t a, b; Timer() { cudaEventCreate(&a); } float stop() { float ms; "
    "cudaEventElapsedTime(&ms, a, b); return ms; } };\nTimer timer;",
    "#include <vector>\nstruct Host { std::vector<float> v; __device__ static float one() { return 1; } };\nHost host;",
    "#include <stdexcept>\nstruct Failed : std::runtime_error { using std::runtime_error::runtime_error; };\n"
    "[[noreturn]] void fail() { throw Failed(\"x\"); }",
    "#include <iostream>\nstruct P { float x; friend std::ostream& operator<<(std::ostream& o, const P& p) { return o "
    "<< p.x; } };\nstd::ostream& operator<<(std::ostream& o, float2 p) { return o << p.x; }",
    "#include <memory>\ntemplate <class T> struct Owner { std::unique_ptr<T> p; };\ntemplate struct Owner<int>;\n"
    "template <> struct Owner<float> { std::shared_ptr<float> p; };\nOwner<float> owner;",
    "template <class T> struct Big { static_assert(sizeof(T) > 100, \"big\"); T t; };\nnamespace host { Big<int> w; }",
    // Lambdas, macros and conditions.
    "#include <string>\nauto name = [](int x) { return std::to_string(x); };\nauto s = name(3);",
    "#define CHECK(call) do { if ((call) != cudaSuccess) exit(1); } while (0)\nvoid f() { CHECK(cudaDeviceReset()); }",
    "#define GETTER(n) int get_##n() { return host_table[n]; }\nGETTER(1)\nGETTER(2)",
    "void mine(int);\nstatic void (*steps[])(int) = {mine};\nvoid run() { steps[0](1); }",
    "#define TEST(a, b) static void a##_##b()\nTEST(one, two) { EXPECT_EQ(host(), 1); }",
    "void f() {\n#ifdef NEVER\n  if (1) {\n#else\n  if (undefined_of_host) {\n#endif\n  }\n}",
    "#include <omp.h>\nvoid f(int n) {\n#pragma omp parallel for\n  for (int i = 0; i < n; ++i) "
    "omp_get_thread_num();\n}",
    "int main(int argc, char** argv) try { std_like::run(argc); } catch (...) { return 1; }",
    "extern \"C\" { int c_api(struct Handle* h) { return h->x; } }\nextern \"C\" void other(FILE* f);",
    "template <class T> T deep(T t) { return t.x; }\ntemplate <class T> T mid(T t) { return deep(t); }\n"
    "int go() { return mid(3); }",
    // Other kernels.
    "#include <string>\n__global__ void other(std::string s) {}\n__device__ int unused() { return missing(); }\n"
    "template <class T> __global__ void typed(T* x) { *x = T::none; }\ntemplate __global__ void typed<int>(int*);",
};

TEST_F(HostCodeBesideKernels, IsLeftOutOfOtherConfigurationsAtOnce) {
  const auto compiler = counting_compiler();
  const std::string source =
      "#include <chrono>\nusing wall_clock = std::chrono::steady_clock;\n"
      "template <int n> __global__ void k(float* x) { x[threadIdx.x] = n; }\n"
      "void run() { wall_clock::now(); }\nint main() { run(); }\n";
  const auto calls = [&](const char* const expression) {
    calls_ = 0;
    image(compiler->compile({source, "dir/mine.cu", {expression}, {}, "sm_80"}));
    return calls_;
  };
  EXPECT_GT(calls("k<1>"), 1);
  EXPECT_EQ(calls("k<2>"), 1);
}

/// Names that nvcc knows without an #include, and the later language.
TEST_F(HostCodeBesideKernels, IsCompiledAtOnceWithTheRemedyThatEachConfigurationNeeds) {
  const testing::TemporaryFolder folder;
  folder.write("most.h", "#pragma once\n__device__ inline int most(int a, int b) { return std::max(a, b); }\n");
  folder.write(
      "pair.h",
      "#pragma once\nstruct Pair { int x, y; };\n__device__ inline int most(int a, int b) { Pair p{.x = a, .y = "
      "b}; return p.x > p.y ? p.x : p.y; }\n");
  for (const char* const header : {"most.h", "pair.h"}) {
    const auto compiler = counting_compiler();
    const auto calls = [&](const char* const more, const char* const expression, const char* const macro) {
      calls_ = 0;
      const std::string source = std::string("#include \"") + header + "\"\n" + more +
                                 "template <int n> __global__ void k(int* x) { *x = most(n, SIDE); }\n";
      CompileRequest request{source, (folder / "mine.cu").string(), {expression}, {}, "sm_80"};
      request.macros = {macro};
      image(compiler->compile(request));
      return calls_;
    };
    EXPECT_GT(calls("", "k<1>", "SIDE=2"), 1) << header;
    EXPECT_EQ(calls("", "k<2>", "SIDE=3"), 1) << header;
    const char* const more = "#if SIDE > 1\n__device__ int more() { return std::min(1, 2); }\n#endif\n";
    EXPECT_GT(calls(more, "k<1>", "SIDE=2"), 1) << header;
    EXPECT_EQ(calls(more, "k<2>", "SIDE=1"), 1) << header << ": what the header needs stays";
  }
  // Another configuration may compile as it is.
  const auto compiler = counting_compiler();
  const auto calls = [&](const char* const macro) {
    calls_ = 0;
    CompileRequest request{
        "#if SIDE > 1\n#define MOST std::max\n#else\n#define MOST max\n#endif\n"
        "__global__ void k(int* x) { *x = MOST(*x, 1); }\n",
        "mine.cu",
        {"k"},
        {},
        "sm_80"};
    request.macros = {macro};
    image(compiler->compile(request));
    return calls_;
  };
  EXPECT_GT(calls("SIDE=2"), 1);
  EXPECT_GT(calls("SIDE=2"), 1);
  EXPECT_EQ(calls("SIDE=1"), 1);
}

TEST_F(HostCodeBesideKernels, IsLeftOut) {
  for (const char* const code : kHostCode) EXPECT_EQ(why_not(code + std::string(kKernel)), "") << code;
}

TEST_F(HostCodeBesideKernels, IsLeftOutOfAProgramAndItsHeaders) {
  const testing::TemporaryFolder folder;
  std::string all;
  for (int number = 0; const char* const code : kHostCode) {
    const std::string name = "n" + std::to_string(number++);
    std::string headers, inside;  // headers cannot be in a namespace
    std::istringstream lines(code);
    for (std::string line; std::getline(lines, line);) (line.starts_with("#include") ? headers : inside) += line + '\n';
    folder.write("lib/" + name + ".h", "#pragma once\n" + headers + "namespace " + name + " {\n" + inside + "}\n");
    all += "#include \"lib/" + name + ".h\"\n";
  }
  const CompileRequest request{all + kKernel, (folder / "k.cu").string(), {"k"}, {}, "sm_80"};
  EXPECT_EQ(error(compiler_->compile(request)), "");
}

TEST_F(HostCodeBesideKernels, IsLeftOutOfASourceOfAnotherNameWithHeadersAndMacros) {
  CompileRequest request{R"(#line 1 "theirs/project.cu"
#include <cuda_fp16.h>
template <class T> __global__ void twice(T* y, const T* x) { y[threadIdx.x] = threadIdx.x < N ? x[0] : 0; }
template <class T> void launch(T* y, const T* x) { twice<<<1, 1>>>(y, x); }
template void launch(float*, const float*);
template void launch(half*, const half*);
#line 3 "dir/mine.cu"
__global__ void k(float* x) { x[threadIdx.x] = N; }
)",
                         "dir/mine.cu",
                         {"k"},
                         {},
                         "sm_80"};
  request.macros = {"N=2"};
  EXPECT_EQ(error(compiler_->compile(request)), "");
}

TEST_F(HostCodeBesideKernels, StaysIfAKernelNeedsIt) {
  EXPECT_EQ(why_not("namespace d { template <class T> auto make(T t) -> T* { return nullptr; } }\n"
                    "template <class T> struct Holder { using P = decltype(d::make<T>(T{})); P p; };\n"
                    "inline void wait() { cudaDeviceSynchronize(); }\n"
                    "__global__ void k(float* x) { Holder<float> h{x}; h.p[0] = 1; }"),
            "");
  EXPECT_EQ(why_not("struct Args { float* x; int n; Args() { cudaMalloc(&x, 4); } ~Args() { cudaFree(x); }\n"
                    "  int size() const { return n; } void print() const { std_like::cout << n; } };\n"
                    "__global__ void k(Args a) { a.x[0] = a.size(); }"),
            "")
      << "members lose their bodies";
}

TEST_F(HostCodeBesideKernels, IsNoWayToAnotherMeaningOfAName) {
  for (const char* const source : {
           "__device__ float f(double x) { return 1; }\n__device__ float f(float x) { return missing(x); }\n"
           "__global__ void k(float* x) { *x = f(*x); }",
           "struct S { float a; };\nnamespace n {\nstruct S { missing_type m; float a; };\n"
           "__global__ void k(float* x) { S s; *x = s.a; }\n}\nusing n::k;",
           "const int n = 3;\nnamespace a {\nconst int n = missing();\n__global__ void k(float* x) { *x = n; "
           "}\n}\nusing a::k;",
           "struct S { missing_type m; float a; };\n__global__ void k(S* s) { s->a = 1; }",
           "struct S { int a; };\nstruct T { missing_type m; S s; };\n__global__ void k(T* t) { t->s.a = sizeof(T); }",
       })
    EXPECT_THAT(why_not(source), HasSubstr("missing")) << source;
}

TEST_F(HostCodeBesideKernels, IsFoundInHeadersByWhateverPathTheyAreReached) {
  const testing::TemporaryFolder folder;
  folder.write("real/y.h", "#pragma once\n#include \"./z.h\"\ninline void wait() { cudaDeviceSynchronize(); }\n");
  folder.write("real/z.h", "#pragma once\n#include \"../real/w.h\"\nstruct Z { int z; };\n#define FACTOR 2\n");
  folder.write("real/w.h", "#ifndef W\n#define W\n#if __has_include(\"z.h\")\nenum { w = 1 };\n#endif\n#endif\n");
  for (const char* const name : {"one", "two"}) {
    std::filesystem::create_directory(folder / name);
    std::filesystem::create_directory_symlink("../real", folder / name / "lib");
  }
  CompileRequest request{
      "#include \"lib/y.h\"\n#include <lib/z.h>\n#include \"two/lib/z.h\"\n"
      "__global__ void k(int* x) { *x = FACTOR * w; }",
      (folder / "k.cu").string(),
      {"k"},
      {},
      "sm_80"};
  request.include_paths = {(folder / "one").string(), (folder / "two").string()};
  EXPECT_EQ(error(compiler_->compile(request)), "");
}

TEST_F(HostCodeBesideKernels, MayIncludeAnyHeaderOfTorchAndThrust) {
  EXPECT_EQ(why_not("#include <c10/util/Half.h>\n#include <torch/csrc/api/include/torch/types.h>\n"
                    "#include <thrust/async/reduce.h>\n#include <ATen/native/cuda/Loops.cuh>\n"
                    "#include <thrust/functional.h>\nat::Tensor run(at::Tensor x) { return x.contiguous(); }\n"
                    "__global__ void k(float* x) { *x = thrust::plus<float>()(1, 2) + thrust::maximum<>()(3, 4); }"),
            "");
}

}  // namespace
}  // namespace tuner::cuda
