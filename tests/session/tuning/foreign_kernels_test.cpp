// Kernels that were not written for a tuner. Their files stay unchanged, and a few lines beside them describe the
// tuning. For the host backend; built again for a GPU (TUNER_TEST_BACKEND).

#include <filesystem>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/measure/single_run.hpp>
#include <tuner/session/tuning/device_choice.hpp>

#ifndef TUNER_TEST_BACKEND
#define TUNER_TEST_BACKEND "host"
#endif

namespace tuner {
namespace {

/// A convolution: its parameters are macros, and its weights are in constant memory.
constexpr const char* kConvolution = R"(
#include "sizes.h"
#ifndef block_size_x
#define block_size_x 16
#endif
#ifndef tile
#define tile 1
#endif
__constant__ float d_filter[33];
__global__ void other(float* y) { y[0] = tile; }
extern "C" __global__ void convolve(float* y, const float* x, int n) {
  __shared__ float part[block_size_x * tile + 2 * radius];
  const int first = blockIdx.x * block_size_x * tile;
  for (int i = threadIdx.x; i < block_size_x * tile + 2 * radius; i += block_size_x)
    part[i] = first + i < n + 2 * radius ? x[first + i] : 0.0f;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < tile; k++) {
    const int i = threadIdx.x + k * block_size_x;
    float sum = 0.0f;
    for (int j = 0; j <= 2 * radius; j++) sum += d_filter[j] * part[i + j];
    if (first + i < n) y[first + i] = sum;
  }
}
__global__ void convolve_naive(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j <= 2 * radius; j++) sum += d_filter[j] * x[i + j];
  if (i < n) y[i] = sum;
}
)";
constexpr const char* kConvolutionDirectives = R"(
#pragma tuner kernel       convolution
#pragma tuner source       "../theirs/convolution.cu"
#pragma tuner include_path "../include"
#pragma tuner size         n = 1000
#pragma tuner parameter    block_size_x = 32..96 step 32
#pragma tuner parameter    tile = 2^(0..2)
#pragma tuner define       block_size_x tile
#pragma tuner in           x[n + 2 * 8]
#pragma tuner constant     d_filter[2 * 8 + 1]
#pragma tuner out          y[n]
#pragma tuner type         T = float
#pragma tuner grid         ceil_div(n, block_size_x * tile)
#pragma tuner block        block_size_x
#pragma tuner arguments    y, x, n
#pragma tuner instantiate  convolve
#pragma tuner reference    convolve_naive
#pragma tuner verify       n=77
#pragma tuner tolerance    relative 1e-5
)";

/// Elements of several numbers, and computed arguments.
constexpr const char* kPoints = R"(
namespace geometry {
__constant__ float2 origin[1];
template <int per_thread>
__global__ void scale(float4* to, const float2* from, int last, float factor, long long stride) {
  const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  for (int i = begin; i < begin + per_thread && i <= last; ++i) {
    const float x = (from[i].x - origin[0].x) * factor, y = (from[i].y - origin[0].y) * factor;
    to[i] = make_float4(x, y, factor, stride);
  }
}
}
)";
constexpr const char* kPointsDirectives = R"(
#pragma tuner kernel      points
#pragma tuner source      "../theirs/points.cu"
#pragma tuner size        n = 500
#pragma tuner parameter   threads = 64 128
#pragma tuner parameter   per_thread = 1 2
#pragma tuner parameter   factor = 0.5 2.0
#pragma tuner let         tile = threads * per_thread
#pragma tuner in          from[n] : float2
#pragma tuner constant    geometry::origin[1] : float2
#pragma tuner out         to[n] : float4
#pragma tuner grid        ceil_div(n, tile)
#pragma tuner block       threads
#pragma tuner arguments   to, from, n - 1, factor : float, 3 * n : int64
#pragma tuner instantiate geometry::scale<{tile / threads}>
#pragma tuner reference   twice
#pragma tuner arguments   to, from, n
__global__ void twice(float4* to, const float2* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = make_float4((from[i].x - geometry::origin[0].x) * 2, (from[i].y - geometry::origin[0].y) * 2, 2, 3 * n);
}
)";

/// Appends to a list and counts its length. A second run without a new list writes after its end.
constexpr const char* kFilter = R"(
extern "C" __global__ void keep_positive(int* kept, unsigned* count, const int* x, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n && x[i] > 0) kept[atomicAdd(count, 1u)] = 1;
}
)";
constexpr const char* kFilterDirectives = R"(
#pragma tuner kernel      filter
#pragma tuner source      "../theirs/filter.cu"
#pragma tuner size        n = 1000
#pragma tuner parameter   BLOCK = 32 64
#pragma tuner define      BLOCK
#pragma tuner in          x[n] : int
#pragma tuner inout       kept[n] : int, count[1] : unsigned
#pragma tuner fill        x = uniform -5 5
#pragma tuner grid        ceil_div(n, BLOCK)
#pragma tuner block       BLOCK
#pragma tuner arguments   kept, count, x, n
#pragma tuner instantiate keep_positive
#pragma tuner reference   serial
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner prepare     empty_list
#pragma tuner arguments   kept, count, n
#pragma tuner verify      n=77
__global__ void empty_list(int* kept, unsigned* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) kept[i] = 0;
  if (i == 0) *count = 0;
}
__global__ void serial(int* kept, unsigned* count, const int* x, int n) {
  for (int i = 0; i < n; ++i)
    if (x[i] > 0) kept[(*count)++] = 1;
}
)";

class ForeignKernels : public ::testing::Test {
 protected:
  ForeignKernels() {
    folder_.write("theirs/convolution.cu", kConvolution);
    folder_.write("include/sizes.h", "enum { radius = 8 };\n");
    folder_.write("theirs/points.cu", kPoints);
    folder_.write("theirs/filter.cu", kFilter);
  }
  void SetUp() override {
#ifdef TUNER_TEST_NEEDS_GPU
    if (!gpu_available()) GTEST_SKIP() << "no usable GPU: " << why_no_gpu();
#endif
    backend_ = open_backend(find_device(TUNER_TEST_BACKEND));
  }
  /// The outcome of \p configuration of a kernel file with \p directives.
  Trial trial(const std::string& directives, const char* configuration, std::size_t samples = 1) {
    folder_.write("tuned/kernel.cu", directives);
    const KernelSpec spec = read_kernel_file(folder_ / "tuned/kernel.cu");
    MeasureOptions measure;
    measure.min_samples = samples;
    measure.max_seconds = 0;
    return SingleRun(*backend_, spec, {}, Configuration::parse(configuration), measure).measure();
  }

  std::unique_ptr<Backend> backend_;
  const testing::TemporaryFolder folder_;
};

TEST_F(ForeignKernels, RunWithTheirMacrosHeadersAndConstantMemory) {
  for (const char* configuration : {"block_size_x=32 tile=1", "block_size_x=64 tile=4", "block_size_x=96 tile=2"}) {
    const Trial right = trial(kConvolutionDirectives, configuration);
    EXPECT_TRUE(right.verified) << configuration << ": " << message(right.outcome);
  }
}

TEST_F(ForeignKernels, TakeVectorsAndWhatIsWorkedOut) {
  const Trial right = trial(kPointsDirectives, "threads=64 per_thread=2 factor=2.0");
  EXPECT_TRUE(right.verified) << message(right.outcome);
}

TEST_F(ForeignKernels, TakeConstantMemoryOfTheTypeInTheirText) {
  const std::string typed = kConvolutionDirectives, line = "#pragma tuner type         T = float\n";
  std::string directives = typed;
  directives.erase(directives.find(line), line.size());
  const Trial right = trial(directives, "block_size_x=32 tile=1");
  EXPECT_TRUE(right.verified) << message(right.outcome);
}

/// A struct and a vector by value, and a pointer that may be null. \p given: the struct as the file declares it.
std::string affine(const std::string& given) {
  return R"(
#pragma tuner kernel      affine
#pragma tuner source      "../theirs/affine.cu"
#pragma tuner size        n = 1000
#pragma tuner parameter   BLOCK = 32 64
#pragma tuner define      BLOCK
#pragma tuner in          x[n] : float
#pragma tuner out         y[n] : float
#pragma tuner scalar      map)" +
         given + R"(
#pragma tuner scalar      ends = { n - 1, 0.5 * n }
#pragma tuner grid        ceil_div(n, BLOCK)
#pragma tuner block       BLOCK
#pragma tuner arguments   y, x, nullptr, map, ends, n
#pragma tuner instantiate affine
#pragma tuner reference   plain
#pragma tuner arguments   y, x, n
#pragma tuner verify      n=33
__global__ void plain(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 0.5f + 8 + (n - 1 + 0.5f * n);
}
)";
}

/// Of a project with types of its frameworks and a class for the host.
constexpr const char* kProject = R"(
#include <torch/extension.h>
#include <cublas_v2.h>
#define CHECK(call) do { if (call != cudaSuccess) fprintf(stderr, "%s", cudaGetErrorString(call)); } while (0)
using at::Half;
using phalf = at::Half;
template <typename T> class Owned {
  T* data_ = nullptr;
 public:
  ~Owned() { CHECK(cudaFree(data_)); }
  virtual const Owned& none() { static Owned all; return all; }
};
namespace theirs {
namespace {
static constexpr int kThreads = 128;
}
template <typename T> struct Twice { static constexpr float by = 2; };
template <> struct Twice<half> { static constexpr float by = 3; };
template <typename T> __global__ void twice(T* y, const T* x, int n) {
  __shared__ T part[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = Twice<T>::by * part[threadIdx.x];
}
template <typename T> void launch(T* y, const T* x, int n) { twice<<<n / kThreads, kThreads>>>(y, x, n); }
#define INSTANTIATE(T) template void launch(T*, const T*, int)
INSTANTIATE(float);
INSTANTIATE(half);
}
)";

TEST_F(ForeignKernels, MayReadAndWriteFp8) {
  const char* const directives = R"(
#pragma tuner kernel      scale
#pragma tuner size        n = 1000
#pragma tuner parameter   block = 32 64
#pragma tuner in          q[n] : __nv_fp8x4_e4m3
#pragma tuner fill        q = uniform -400 400
#pragma tuner in          x[n] : tf32
#pragma tuner out         y[4 * n] : e5m2
#pragma tuner aligned     4
#pragma tuner grid        ceil_div(n, block)
#pragma tuner block       block
#pragma tuner arguments   y, q, x, n
#pragma tuner reference   plain
#pragma tuner grid        n
#pragma tuner block       4
#include <cuda_fp8.h>
__global__ void scale(__nv_fp8_e5m2* y, const __nv_fp8x4_e4m3* q, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 all = static_cast<float4>(q[i]);
  reinterpret_cast<__nv_fp8x4_e5m2*>(y)[i] =
      __nv_fp8x4_e5m2(make_float4(all.x * x[i], all.y * x[i], all.z * x[i], all.w * x[i]));
}
__global__ void plain(__nv_fp8_e5m2* y, const __nv_fp8_e4m3* q, const float* x, int n) {
  const int i = blockIdx.x * 4 + threadIdx.x;
  y[i] = __nv_fp8_e5m2(static_cast<float>(q[i]) * x[blockIdx.x]);
}
)";
  for (const char* configuration : {"block=32", "block=64"}) {
    const Trial right = trial(directives, configuration);
    EXPECT_TRUE(right.verified) << configuration << ": " << message(right.outcome);
  }
  std::string wrong = directives;
  wrong.replace(wrong.find("all.z * x[i]"), 12, "all.y * x[i]");
  EXPECT_THAT(message(trial(wrong.c_str(), "block=32").outcome), HasSubstr("expected"));
}

TEST_F(ForeignKernels, MayReadAndWriteFp4AndItsScales) {
  const char* const directives = R"(
#pragma tuner kernel      dequantize
#pragma tuner size        n = 1024
#pragma tuner parameter   block = 32 64
#pragma tuner in          q[n / 2] : e2m1x2
#pragma tuner fill        q = uniform -6 6
#pragma tuner in          scale[n / 32] : e8m0
#pragma tuner out         y[n / 2] : __nv_fp4x2_e2m1
#pragma tuner out         z[n] : e3m2
#pragma tuner grid        ceil_div(n / 2, block)
#pragma tuner block       block
#pragma tuner arguments   y, z, q, scale, n
#pragma tuner reference   plain
#pragma tuner grid        n / 2
#pragma tuner block       1
#pragma tuner verify      n=96
#include <cuda_fp4.h>
__global__ void dequantize(__nv_fp4x2_e2m1* y, __nv_fp6_e3m2* z, const __nv_fp4x2_e2m1* q, const __nv_fp8_e8m0* scale,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  const float2 pair = static_cast<float2>(q[i]);
  const float s = static_cast<float>(scale[i / 16]);
  y[i] = __nv_fp4x2_e2m1(make_float2(pair.x * s, pair.y * s));
  z[2 * i] = __nv_fp6_e3m2(pair.x * s);
  z[2 * i + 1] = __nv_fp6_e3m2(pair.y * s);
}
__global__ void plain(__nv_fp4x2_e2m1* y, __nv_fp6_e3m2* z, const __nv_fp4x2_e2m1* q, const __nv_fp8_e8m0* scale, int) {
  const int i = blockIdx.x;
  const float2 pair = static_cast<float2>(q[i]);
  const float s = static_cast<float>(scale[i / 16]);
  y[i] = __nv_fp4x2_e2m1(make_float2(pair.x * s, pair.y * s));
  z[2 * i] = __nv_fp6_e3m2(pair.x * s);
  z[2 * i + 1] = __nv_fp6_e3m2(pair.y * s);
}
)";
  const Trial right = trial(directives, "block=32");
  EXPECT_TRUE(right.verified) << message(right.outcome);
  std::string wrong = directives;
  wrong.replace(wrong.find("pair.x * s, pair.y * s"), 22, "pair.y * s, pair.x * s");
  EXPECT_THAT(message(trial(wrong.c_str(), "block=32").outcome), HasSubstr("tolerance one place of e2m1x2"));
}

TEST_F(ForeignKernels, MayNotRoundAllNumbersOfFp8InOneDirection) {
  const std::string directives = R"(
#pragma tuner kernel      quantize
#pragma tuner size        n = 1000
#pragma tuner parameter   block = 32 64
#pragma tuner in          x[n]
#pragma tuner fill        x = uniform -100 100
#pragma tuner out         y[n] : e4m3
#pragma tuner aligned     4
#pragma tuner grid        ceil_div(n, block)
#pragma tuner block       block
#pragma tuner arguments   y, x, n
#pragma tuner reference   plain
#pragma tuner grid        n
#pragma tuner block       1
#include <cuda_fp8.h>
__global__ void quantize(__nv_fp8_e4m3* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = __nv_fp8_e4m3(x[i]);
  LOWER
}
__global__ void plain(__nv_fp8_e4m3* y, const float* x, int) { y[blockIdx.x] = __nv_fp8_e4m3(x[blockIdx.x]); }
)";
  const auto with = [&](const std::string& statement, const std::string& line) {
    std::string changed = directives;
    changed.replace(changed.find("LOWER"), 5, statement);
    changed.insert(changed.find("#pragma tuner aligned"), line);
    const Trial result = trial(changed.c_str(), "block=32");
    return std::string(result.verified ? "right" : message(result.outcome));
  };
  EXPECT_EQ(with("if (i % 5 == 0) --y[i].__x;", ""), "right") << "another order of a sum may do that";
  const std::string lower = with("--y[i].__x;", "");
  EXPECT_THAT(lower, HasSubstr("y: "));
  EXPECT_THAT(lower, HasSubstr("numbers are nearer to zero than expected"));
  EXPECT_THAT(lower, HasSubstr("tolerance relative 0.125 absolute 0.001953125"));
  EXPECT_THAT(with("y[i].__x += x[i] < 0 ? -1 : 1;", ""), HasSubstr("numbers are greater than expected"));
  EXPECT_EQ(with("--y[i].__x;", "#pragma tuner tolerance relative 0.125 absolute 0.002\n"), "right");
}

TEST_F(ForeignKernels, NeedNoHeadersAndClassesOfTheHost) {
  folder_.write("theirs/project.cu", kProject);
  const char* const directives = R"(
#pragma tuner kernel      twice
#pragma tuner source      "../theirs/project.cu"
#pragma tuner size        n = 1000
#pragma tuner parameter   kThreads = 32 64
#pragma tuner in          x[n] : float
#pragma tuner out         y[n] : float
#pragma tuner grid        ceil_div(n, kThreads)
#pragma tuner block       kThreads
#pragma tuner instantiate theirs::twice<float>
#pragma tuner reference   plain
__global__ void plain(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
)";
  for (const char* configuration : {"kThreads=32", "kThreads=64"}) {
    const Trial right = trial(directives, configuration);
    EXPECT_TRUE(right.verified) << configuration << ": " << message(right.outcome);
  }
}

TEST_F(ForeignKernels, TakeStructsByValueAndNullPointers) {
  const std::string kernel = R"(
struct Map { char axis; float factor; double shift; int weights[3]; bool added; };
extern "C" __global__ void affine(float* y, const float* x, const float* bias, Map map, float2 ends, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  y[i] = map.factor * x[i] + map.shift + map.weights[2] + (map.added ? ends.x + ends.y : 0);
  if (bias != nullptr) y[i] += bias[i];
}
)";
  folder_.write("theirs/affine.cu", kernel);
  for (const char* given :
       {" = { 0, 2, 0.5, { 6, 7, 8 }, true }",
        " : { char axis; float factor; double shift; int w[3]; bool b; } = { 0, 2, 0.5, 6, 7, 8, 1 }"}) {
    const Trial right = trial(affine(given), "BLOCK=32");
    EXPECT_TRUE(right.verified) << given << ": " << message(right.outcome);
  }
}

/// A kernel that takes buffers in a struct. \p by: the factor of the step, 1 if it is right.
std::string step_kernel(const std::string& by) {
  return "struct Grid { const float *p, *none; int n; };\n"
         "struct Fields { float* v[2]; Grid grid; };\n"
         "__global__ void step(Fields f, float dt) {\n"
         "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
         "  if (i >= f.grid.n || f.grid.none != nullptr) return;\n"
         "  f.v[0][i] += " +
         by + " * dt * f.grid.p[i];\n  f.v[1][i] = dt + f.grid.p[i];\n}\n";
}
constexpr const char* kStepDirectives = R"(
#pragma tuner kernel      step
#pragma tuner source      "../theirs/step.cu"
#pragma tuner size        n = 1000
#pragma tuner parameter   BLOCK = 32 64
#pragma tuner define      BLOCK
#pragma tuner inout       vx[n]
#pragma tuner out         vy[n]
#pragma tuner in          p[n]
#pragma tuner scalar      f = { { vx, vy }, { p, nullptr, n } }, dt = 0.5
#pragma tuner grid        ceil_div(n, BLOCK)
#pragma tuner block       BLOCK
#pragma tuner reference   plain
#pragma tuner arguments   vx, vy, p, n
#pragma tuner verify      n=33 offset=1
__global__ void plain(float* vx, float* vy, const float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  vx[i] += 0.5f * p[i];
  vy[i] = 0.5f + p[i];
}
)";

TEST_F(ForeignKernels, FindTheirBuffersInStructs) {
  folder_.write("theirs/step.cu", step_kernel("1"));
  const Trial right = trial(kStepDirectives, "BLOCK=32");
  EXPECT_TRUE(right.verified) << message(right.outcome);
}

TEST_F(ForeignKernels, AreWrongInBuffersOfAStructToo) {
  folder_.write("theirs/step.cu", step_kernel("2"));
  const Trial factor = trial(kStepDirectives, "BLOCK=32");
  EXPECT_EQ(kind(factor.outcome), "wrong");
  EXPECT_THAT(std::string(message(factor.outcome)), HasSubstr("vx["));
  folder_.write("theirs/step.cu", step_kernel("(const_cast<float*>(f.grid.p)[i] = 0)"));
  EXPECT_FALSE(trial(kStepDirectives, "BLOCK=32").verified) << "it writes to its input";
}

TEST_F(ForeignKernels, RefuseAStructOfAnotherSize) {
  folder_.write("theirs/affine.cu", R"(
struct Map { float factor; int n; };
extern "C" __global__ void affine(float* y, const float* x, const float* bias, Map map, float2 ends, int n) {}
)");
  const std::string said(message(trial(affine(" : { float factor; } = { 2 }"), "BLOCK=32").outcome));
  EXPECT_THAT(said, HasSubstr("affine: argument 4 has 4 bytes, the kernel takes 8"));
}

TEST_F(ForeignKernels, TakeTypesThatAParameterChooses) {
  folder_.write("theirs/copy.cu",
                "extern \"C\" __global__ void copy(real* y, const real* x, int n) {\n"
                "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i];\n}\n");
  const std::string directives = R"(
#pragma tuner kernel      copy
#pragma tuner source      "../theirs/copy.cu"
#pragma tuner size        n = 1000
#pragma tuner parameter   real = float float2 float4
#pragma tuner let         width = real == float4 ? 4 : real == float2 ? 2 : 1
#pragma tuner constraint  whole: n % width == 0
#pragma tuner aligned     16
#pragma tuner define      real
#pragma tuner in          x[n] : float
#pragma tuner fill        x = expression i + 0.25
#pragma tuner out         y[n] : float
#pragma tuner grid        ceil_div(n / width, 32)
#pragma tuner block       32
#pragma tuner arguments   y, x, n / width
#pragma tuner instantiate copy
#pragma tuner reference   plain
#pragma tuner arguments   y, n
__global__ void plain(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i + 0.25f;
}
)";
  for (const char* configuration : {"real=float", "real=float2", "real=float4"}) {
    const Trial right = trial(directives, configuration);
    EXPECT_TRUE(right.verified) << configuration << ": " << message(right.outcome);
  }
}

TEST_F(ForeignKernels, AreComparedWithAProgramThatUsesTheirNames) {
  folder_.write(
      "theirs/twice.cu",
      "__device__ int times() { return 2; }\n"
      "extern \"C\" __global__ void twice(int* y, const int* x, int n) {\n"
      "  for (int i = blockIdx.x * UNROLL; i < min(n, (blockIdx.x + 1) * UNROLL); ++i) y[i] = x[i] * times();\n}\n");
  folder_.write("theirs/naive.cu",
                "#define UNROLL 1\n__device__ int times(int x) { return x + x; }\n"
                "extern \"C\" __global__ void twice(int* y, const int* x, int n) {\n"
                "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = times(x[i]);\n}\n");
  const Trial right = trial(R"(
#pragma tuner kernel           twice
#pragma tuner source           "../theirs/twice.cu"
#pragma tuner reference_source "../theirs/naive.cu"
#pragma tuner size             n = 300
#pragma tuner parameter        UNROLL = 1 4
#pragma tuner define           UNROLL
#pragma tuner in               x[n] : int
#pragma tuner out              y[n] : int
#pragma tuner grid             ceil_div(n, UNROLL)
#pragma tuner block            1
#pragma tuner arguments        y, x, n
#pragma tuner instantiate      twice
#pragma tuner reference        twice
)",
                            "UNROLL=4");
  EXPECT_TRUE(right.verified) << message(right.outcome);
}

TEST_F(ForeignKernels, StartEachRunFromWhatPreparesIt) {
  for (const char* configuration : {"BLOCK=32", "BLOCK=64"}) {
    const Trial right = trial(kFilterDirectives, configuration, 30);
    EXPECT_TRUE(right.verified) << configuration << ": " << message(right.outcome);
  }
}

TEST_F(ForeignKernels, StartEachRunFromTheirFillsIfNothingPreparesIt) {
  std::string directives = kFilterDirectives;
  const std::size_t begin = directives.find("#pragma tuner prepare"), end = directives.find("#pragma tuner verify");
  directives.erase(begin, end - begin);
  directives += "#pragma tuner fill kept = constant 0\n#pragma tuner fill count = constant 0\n";
  const Trial right = trial(directives, "BLOCK=32", 30);
  EXPECT_TRUE(right.verified) << "no run continues to count: " << message(right.outcome);
}

TEST_F(ForeignKernels, NameTheComponentThatIsWrong) {
  const Trial wrong = trial(kPointsDirectives, "threads=64 per_thread=1 factor=0.5");
  EXPECT_EQ(kind(wrong.outcome), "wrong");
  EXPECT_THAT(message(wrong.outcome), HasSubstr("to[0].x is"));
}

TEST_F(ForeignKernels, SayThatConstantMemoryIsTooSmall) {
  std::string directives = kConvolutionDirectives;
  directives.replace(directives.find("d_filter[2 * 8 + 1]"), 19, "d_filter[64]");
  EXPECT_THAT(
      error_of([&] { trial(directives, "block_size_x=32 tile=1"); }),
      HasSubstr("constant buffer d_filter[64] has 256 bytes, but the variable d_filter of the program has 132"));
}

}  // namespace
}  // namespace tuner
