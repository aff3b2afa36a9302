// Parts of real kernel files: headers, host functions, and words that only CUDA's compiler knows.

#include <fstream>

#include <tuner/backend/host/run/sanitizer.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

TEST(HostHeaders, GiveWhatTheToolkitsAndTheLibrariesGiveDeviceCode) {
  const std::vector<int> out = outputs<int>(5, R"(
#include <assert.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <math_constants.h>
#include <vector_types.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>
#if __cplusplus != 201703L
#error kernels are C++17, for NVRTC as here
#endif
__device__ __noinline__ int twice(int x) { return 2 * x; }
__global__ void k(int* out) {
  static __shared__ int all[2];
  volatile __shared__ int other[2];
  all[0] = twice(4);
  other[1] = 5;
  float s, c;
  sincosf(CUDART_PI_F, &s, &c);
  const clock_t before = clock();
  out[0] = all[0] + other[1];
  out[1] = static_cast<int>(c);
  out[2] = max(1, 2u) + (clock() >= before) + std::is_same<std::uint32_t, unsigned>::value;
  out[3] = __funnelshift_lc(1, 2, 40) + __mul24(3, 5) + __hadd(3, 5) + __double2hiint(1.0) / (1 << 20);
  out[4] = static_cast<int>(rsqrt(0.25f)) + std::numeric_limits<int>::digits;
})",
                                            "k", shape(1, 1));
  EXPECT_THAT(out, ElementsAre(13, -1, 4, 1 + 15 + 4 + 1023, 33));
}

TEST(HostHeaders, GiveTheNamesThatNvccGivesWithoutAnInclude) {
  const std::vector<int> out = outputs<int>(1, R"(
__global__ void k(int* out) {
  alignas(int) char bytes[sizeof(int)];
  int* const one = new (bytes) int(std::max(1, 0));
  int two = 2;
  std::swap(*one, two);
  out[0] = *one + std::min(3, 4) + static_cast<int>(std::abs(-1.0)) + std::numeric_limits<signed char>::max() +
           std::is_same<int, std::decay_t<const int&>>::value + std::pair<int, int>(1, 2).second;
})",
                                            "k", shape(1, 1));
  EXPECT_THAT(out, ElementsAre(2 + 3 + 1 + 127 + 1 + 2));
}

TEST(HostHeaders, GiveComplexNumbersAndRoundingsOfSmallFloats) {
  const std::vector<float> out = outputs<float>(8, R"(
#include <cuComplex.h>
#include <cuda_fp8.h>
#include <sm_61_intrinsics.h>
__global__ void k(float* out) {
  const cuFloatComplex a = cuCdivf(make_cuFloatComplex(1, 7), make_cuFloatComplex(1, 2));
  out[0] = cuCrealf(a);
  out[1] = cuCimagf(a);
  out[2] = __float2half_rz(2049.0f);
  out[3] = __float2half_ru(2049.0f);
  out[4] = __float2half_rd(-2049.0f);
  out[5] = __float2half_rz(1e9f);
  __shared__ half2 both;
  both = {half(1), half(2)};
  const half2 before = atomicAdd(&both, half2{half(3), half(4)});
  out[6] = both.x + both.y;
  out[7] = before.y;
})",
                                                "k", shape(1, 1));
  EXPECT_THAT(out,
              ::testing::Pointwise(::testing::FloatEq(), std::vector<float>{3, 1, 2048, 2050, -2050, 65504, 10, 2}));
}

TEST(HostHeaders, GiveTilesOfAnyParentAndTheirCollectives) {
  const std::vector<int> out = outputs<int>(64, R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__device__ int sum(cg::thread_block_tile<32> tile, int x) { return cg::reduce(tile, x, cg::plus<int>()); }
__global__ void k(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  const int i = block.thread_rank();
  out[i] = sum(tile, 1) + 100 * cg::inclusive_scan(tile, 1) + 10000 * cg::exclusive_scan(tile, 1, cg::plus<int>());
})",
                                            "k", shape(1, 64));
  EXPECT_EQ(out[0], 32 + 100);
  EXPECT_EQ(out[63], 32 + 3200 + 310000);
}

TEST(HostHeaders, GiveSpansAndBitsInCpp17AndGroupsOfTiles) {
  EXPECT_EQ(
      output<int>(
          "#include <cooperative_groups.h>\n#include <cuda/std/bit>\n#include <cuda/std/span>\n"
          "namespace cg = cooperative_groups;\n"
          "__device__ int sum(cuda::std::span<const int> all) { int s = 0; for (int x : all) s += x; return s; }\n"
          "__device__ int ranks(cg::thread_group g) { g.sync(); return g.size() * 10 + g.thread_rank(); }\n"
          "__global__ void k(int* out) {\n  int a[3] = {1, 2, 3};\n  cuda::std::span<int> s(a);\n"
          "  const int all = ranks(cg::tiled_partition<16>(cg::this_thread_block()));\n"
          "  if (threadIdx.x == 19) *out = sum(s) + s.subspan(1).size() * 10 + all * 100 +\n"
          "    cuda::std::popcount(7u) + cuda::std::bit_ceil(5u) + cuda::std::countl_zero(1u) +\n"
          "    (cuda::std::bit_cast<unsigned>(1.0f) == 0x3f800000);\n}\n",
          "k", shape(1, 32)),
      6 + 20 + 16300 + 3 + 8 + 31 + 1);
}

TEST(HostHeaders, GiveLimitsOfSmallFloatsUnlessTheTextHasItsOwn) {
  const std::string head = "#include <limits>\n#include <cuda_fp16.h>\n";
  EXPECT_EQ(output<float>(head + "__global__ void k(float* x) { using all = std::numeric_limits<__half>;\n"
                                 "*x = float(all::max()) + float(all::lowest()) + float(all::epsilon()) * 1024 + "
                                 "float(std::numeric_limits<__nv_bfloat16>::epsilon()) * 128 + all::digits; }\n",
                          "k", shape(1, 1)),
            0 + 1 + 1 + 11);
  EXPECT_EQ(
      output<float>(head + "namespace std { template <> struct numeric_limits<half> { static half max() { return "
                           "half(5); } }; }\n__global__ void k(float* x) { *x = std::numeric_limits<half>::max(); "
                           "}\n",
                    "k", shape(1, 1)),
      5);
}

TEST(HostHeaders, LetKernelsHaveNamesOfTheLibrary) {
  EXPECT_EQ(output<int>("#include <algorithm>\n#include <numeric>\nusing namespace std;\n"
                        "__constant__ int count = 3;\n__global__ void fill(int* x) { *x = ::count; }\n",
                        "fill", shape(1, 1)),
            3);
}

TEST(HostHeaders, GivePartsOfATileByPredicateAndByLabel) {
  const std::vector<int> out = outputs<int>(5 * 32, R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int t = tile.thread_rank();
  const auto odd = cg::binary_partition(tile, t % 2 == 1);
  const auto third = cg::labeled_partition(tile, t % 3);
  const auto part = cg::binary_partition(third, t < 16);
  out[t] = odd.size() * 100 + odd.thread_rank();
  out[32 + t] = cg::reduce(third, t, cg::plus<int>());
  out[64 + t] = third.shfl(t, 2) * 100 + third.meta_group_rank() * 10 + third.meta_group_size();
  out[96 + t] = odd.ballot(t < 4) * 100 + part.size();
  out[128 + t] = odd.shfl_up(t, 1) + 100 * odd.shfl_down(t, 1);
})",
                                            "k", shape(1, 32));
  const auto seen = [&](std::size_t thread) {
    std::vector<int> values;
    for (std::size_t i = 0; i < 5; ++i) values.push_back(out[i * 32 + thread]);
    return values;
  };
  EXPECT_THAT(seen(0), ElementsAre(1600, 165, 603, 306, 200));
  EXPECT_THAT(seen(7), ElementsAre(1603, 176, 713, 305, 5 + 900));
  EXPECT_THAT(seen(31), ElementsAre(1615, 176, 713, 306, 29 + 3100));
}

TEST(HostHeaders, NumberTheTilesOfATileWithinIt) {
  const std::vector<int> out = outputs<int>(64, R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const cg::thread_block_tile<8> part = cg::tiled_partition<8>(warp);
  out[threadIdx.x] = 100 * warp.meta_group_size() + 10 * part.meta_group_size() + part.meta_group_rank();
})",
                                            "k", shape(1, 64));
  EXPECT_EQ(out[0], 240);
  EXPECT_EQ(out[31], 243);
  EXPECT_EQ(out[40], 241);
}

TEST(HostHeaders, GiveAtomicReferencesAndSmallFunctionsOfCudasOwnLibrary) {
  const std::vector<float> out = outputs<float>(4, R"(
#include <cuda/atomic>
#include <cuda/cmath>
#include <cuda/std/atomic>
#include <cuda/std/limits>
#include <cuda_pipeline.h>
__global__ void k(float* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
  __shared__ float copied;
  if (threadIdx.x == 0) count = 0;
  if (threadIdx.x == 1) __pipeline_memcpy_async(&copied, &out[3], sizeof(float), sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  cuda::atomic_ref<float, cuda::thread_scope_device> sum(out[0]);
  sum.fetch_add(1.0f, cuda::memory_order_relaxed);
  cuda::atomic_ref<float> most(out[1]);
  most.fetch_max(threadIdx.x);
  count.fetch_add(1, cuda::std::memory_order_relaxed);
  if (threadIdx.x == 0) while (count.load(cuda::memory_order_acquire) < 64) __nanosleep(1);
  if (threadIdx.x == 0) out[2] = count++ + cuda::ceil_div(9, 8);
  if (threadIdx.x == 0) out[3] = copied + cuda::std::numeric_limits<int>::digits;
})",
                                                "k", shape(1, 64));
  EXPECT_THAT(out, ElementsAre(64, 63, 66, 31));
}

/// The message of the error of compiling \p source.
std::string refusal_of(const std::string& source) {
  const CompileResult result = backend().compiler().compile(request(source, {"k"}));
  return std::get<CompileError>(result).message;
}

TEST(HostHeaders, ThatOnlyAGpuHasAreNamedWhereAKernelUsesThem) {
  const auto lacks = [](const std::string& what) {
    return ::testing::EndsWith(": the host backend has no " + what + ", which is for GPUs");
  };
  EXPECT_THAT(refusal_of("#include <cuda/warp>\n__global__ void k(int* x) { *x = cuda::warp_shuffle_idx(*x, 0); }\n"),
              AllOf(StartsWith("test.cu:2:"), lacks("<cuda/warp>")));
  EXPECT_THAT(refusal_of("#include <cuda/ptx>\n__global__ void k() { cuda::ptx::trap(); }\n"),
              lacks("such part of <cuda/ptx>"));
  EXPECT_THAT(refusal_of("#include <cuda/no_such_part>\n__global__ void k() {}\n"), lacks("<cuda/no_such_part>"));
  EXPECT_THAT(refusal_of("#include <cuda/ptx>\n__global__ void k() { typo(); }\n"), Not(HasSubstr("<cuda/ptx>")));
  EXPECT_THAT(refusal_of("#include \"no_such_file.h\"\n__global__ void k() {}\n"), HasSubstr("include_path"));
}

TEST(HostHeaders, GiveMoreOfCudasLibraryWhereTheToolkitIsFound) {
  const std::string source =
      "#include <cuda/std/array>\n#include <cuda/std/mdspan>\n#include <cuda/std/span>\n"
      "__global__ void k(int* out) {\n"
      "  cuda::std::mdspan<int, cuda::std::extents<int, 2, cuda::std::dynamic_extent>> m(out, 3);\n"
      "  cuda::std::array<int, 3> a{1, 2, 3};\n  cuda::std::span<int, 3> s(a);\n"
      "  for (int i = 0; i < 2; ++i) for (int j = 0; j < 3; ++j) m(i, j) = 10 * i + s[j];\n}\n";
  const CompileResult result = backend().compiler().compile(request(source, {"k"}));
  if (const auto* const error = std::get_if<CompileError>(&result)) {
    EXPECT_THAT(error->message, HasSubstr("the host backend takes <cuda/std/mdspan> from the CUDA toolkit"));
    return;
  }
  std::vector<int> out(6);
  const std::unique_ptr<Module> module = load(result);
  EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 20, backend(), out.data())), "done");
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 11, 12, 13));
}

TEST(HostHeaders, GiveThePartOfPtxThatHasAMeaningOnACpu) {
  const std::vector<int> out = outputs<int>(4, R"(
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__device__ alignas(16) int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void k(int* out) {
  __shared__ alignas(16) int copy[8];
  __shared__ uint64_t bar;
  if (ptx::get_sreg_tid_x() == 0) {
    ptx::mbarrier_init(&bar, 32);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  uint64_t token;
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, copy, numbers, sizeof copy, &bar);
    token = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof copy);
  } else {
    token = ptx::mbarrier_arrive(&bar);
  }
  while (!ptx::mbarrier_try_wait(&bar, token)) {}
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &bar, 0)) {}
  copy[threadIdx.x % 8] += 0;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, copy + 4, 16);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
})",
                                            "k", shape(1, 32));
  EXPECT_THAT(out, ElementsAre(5, 6, 7, 8));
}

TEST(HostHeaders, SayThatTheCompilerIsNvcc) {
  const int out = output<int>(R"(
#if !defined(__CUDACC__) || !defined(__NVCC__) || __CUDACC_VER_MAJOR__ < 11 || CUDART_VERSION < 11000
#error this file is for nvcc
#endif
#ifdef __CUDACC__
__global__ void k(int* out) {
  cudaGridDependencySynchronize();
  *out = 1;
  cudaTriggerProgrammaticLaunchCompletion();
}
#endif
)",
                              "k", shape(1, 1));
  EXPECT_EQ(out, 1);
}

TEST(HostHeaders, GiveCubsCollectivesOfAWarpAsThoseOfABlock) {
  const std::vector<int> out = outputs<int>(8 * 64, R"(
#include <cub/util_type.cuh>
#include <cub/thread/thread_operators.cuh>
#include <cub/cub.cuh>
#include <cuda/functional>
__global__ void k(int* out) {
  using Scan = cub::WarpScan<int, 16>;
  using Reduce = cub::WarpReduce<int, 16>;
  __shared__ typename Scan::TempStorage scans[4];
  __shared__ typename Reduce::TempStorage sums;  // CUB's is empty, so that the warps may share it
  const int t = threadIdx.x, all = 64;
  Scan scan(scans[t / 16]);
  Reduce reduce(sums);
  int* to = out + t;
  int before, with, total;
  scan.ExclusiveSum(1, to[0], total);
  scan.InclusiveSum(total, to[all]);
  scan.ExclusiveScan(t, to[2 * all], 1000, cuda::maximum<>());
  scan.Scan(1, with, before, 5, cub::Sum());
  to[3 * all] = 100 * with + before;
  to[4 * all] = scan.Broadcast(t, 3);
  to[5 * all] = reduce.Sum(1) + 100 * reduce.Reduce(t, cub::Max(), 4);
  to[6 * all] = reduce.HeadSegmentedSum(1, t % 4 == 0);
  cub::BlockScan<int, 64>().InclusiveScan(t, to[7 * all], cuda::minimum<int>());
})",
                                            "k", shape(1, 64));
  const auto seen = [&](std::size_t thread) {
    std::vector<int> values;
    for (std::size_t i = 0; i < 8; ++i) values.push_back(out[i * 64 + thread]);
    return values;
  };
  EXPECT_THAT(seen(0), ElementsAre(0, 16, 1000, 605, 3, 316, 4, 0));
  EXPECT_THAT(seen(37), ElementsAre(5, 96, 1000, 1110, 35, 1 + 3700, 3, 0));
}

TEST(HostHeaders, NameTypesOfLibrariesThatStandBesideKernels) {
  const int out = output<int>(R"(
#include <cufft.h>
#include <helper_timer.h>
#include <opencv2/opencv.hpp>
#include <thrust/complex.h>
#include <thrust/pair.h>
#include <thrust/tuple.h>
class Program { StopWatchInterface* timer; cufftHandle plan; };
__device__ float real(cufftComplex z) { return z.x; }
__device__ int sum(thrust::pair<int, int> two) { return thrust::get<0>(thrust::make_tuple(two.first, 1)) + two.second; }
__global__ void k(int* out) { *out = real(cufftComplex{3, 4}) + thrust::abs(thrust::complex<float>(3, 4)) + sum({1, 2}); }
)",
                              "k", shape(1, 1));
  EXPECT_EQ(out, 3 + 5 + 3);
}

TEST(HostHeaders, HaveTheDeviceFunctionsOfCurandWhereTheToolkitIsFound) {
  const int out = output<int>(
      "#if __has_include(<curand_uniform.h>)\n#include <curand_kernel.h>\n"
      "__device__ unsigned drawn() { curandState s; curand_init(1, threadIdx.x, 0, &s); return curand(&s); }\n"
      "#else\n__device__ unsigned drawn() { return 1; }\n#endif\n"
      "__global__ void k(int* out) { *out = drawn() == drawn() && drawn() != 0; }\n",
      "k", shape(1, 1));
  EXPECT_EQ(out, 1);
}

TEST(HostHeaders, LetClassesOfTheHostBe) {
  const int out = output<int>(
      "#include <cublas_v2.h>\n#include <mma.h>\nusing namespace nvcuda;\ncublasHandle_t handle;\n"
      "extern cudaDeviceProp properties;\n#if CUDART_VERSION < 9000\n#error old\n#endif\n"
      "template <typename T> struct Buffer { T* p; Buffer() { cudaMalloc(&p, 4); } };\n"
      "typedef cudaStream_t queue;\nstruct Mesh { queue s; };\nvoid stop() { cudaDeviceReset(); }\n"
      "__global__ void k(int* out) { *out = INT_MAX; }\n",
      "k", shape(1, 1));
  EXPECT_EQ(out, 2147483647);
}

constexpr const char* kProgram = R"(#include "common/util.h"
#include <vector>
#define CHECK(call) if ((call) != cudaSuccess) exit(1)
extern "C" __global__ void k(int* out) {
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = next(dynamic);
}
int main(int argc, char** argv) {
  std::vector<int> host(4);
  int* out;
  CHECK(cudaMalloc(&out, 16));
  k<<<1, 4, 16>>>(out);
  CHECK(cudaMemcpy(host.data(), out, 16, cudaMemcpyDeviceToHost));
  return 0;
}
)";
constexpr const char* kHeader =
    "#pragma once\nextern __shared__ int dynamic[];\n#include \"../deeper.h\"\n"
    "void launch() { k<<<1, 2>>>(nullptr); }\n";

TEST(HostHeaders, OfTheAuthorHoldDynamicSharedMemoryAndHostFunctions) {
  const TemporaryFolder folder;
  folder.write("common/util.h", kHeader);
  folder.write("deeper.h", "__device__ __noinline__ int next(int* x) { return x[blockDim.x - 1 - threadIdx.x]; }\n");
  CompileRequest wanted = request(kProgram, {"k"});
  wanted.file_name = (folder / "k.cu").string();
  const auto module = load(backend().compiler().compile(wanted));
  std::vector<int> out(4);
  EXPECT_EQ(text(launch(*module, 0, shape(1, 4, 16), 5, backend(), out.data())), "done");
  EXPECT_THAT(out, ElementsAre(3, 2, 1, 0));

  folder.write("deeper.h", "__device__ int next(int* x) {\n  return undeclared;\n}\n");
  EXPECT_THAT(why_not(backend().compiler().compile(wanted)), HasSubstr("deeper.h:2:"));
}

TEST(HostHeaders, OfTheAuthorAreFoundFromAFolderThatHasNone) {
  const TemporaryFolder folder;
  folder.write("lib/sums.h", kHeader);
  folder.write("deeper.h", "__device__ int next(int* x) { return x[threadIdx.x]; }\n");
  folder.write("app/main.cu", "");
  std::string program = kProgram;
  program.replace(program.find("common/util.h"), std::string("common/util.h").size(), "../lib/sums.h");
  CompileRequest wanted = request(program, {"k"});
  wanted.file_name = (folder / "k.cu").string();
  wanted.include_paths = {(folder / "app").string()};
  EXPECT_EQ(why_not(backend().compiler().compile(wanted)), "");
}

TEST(HostHeaders, OfLibrariesAndToolsAreEmptyUnlessTheAuthorHasThem) {
  const TemporaryFolder folder;
  folder.write("helper_cuda.h", "#define MINE 7\n");
  CompileRequest wanted = request(
      "#include <cublas_v2.h>\n#include <nvtx3/nvtx3.hpp>\n#include <torch/extension.h>\n#include \"helper_cuda.h\"\n"
      "__global__ void k(int* out) { *out = MINE; }\n"
      "void launch() { cublasHandle_t handle; cublasCreate(&handle); }\n",
      {"k"});
  wanted.file_name = (folder / "k.cu").string();
  const auto module = load(backend().compiler().compile(wanted));
  int out = 0;
  EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend(), &out)), "done");
  EXPECT_EQ(out, 7);
}

TEST(HostHeaders, MayCallFunctionsOfOtherFilesInHostFunctions) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "a sanitizer's functions are missing until the object is loaded";
  const std::string host = "int elsewhere(int a);\nvoid start(int n) { elsewhere(n); }\n";
  for (const bool interleaved : {false, true}) {
    CompileRequest kernel = request(host + "__global__ void k(int* out) { out[0] = 1; }\n", {"k"});
    kernel.interleaved = interleaved;
    int out = 0;
    EXPECT_EQ(text(launch(*load(backend().compiler().compile(kernel)), 0, shape(1, 1), 20, backend(), &out)), "done");
    EXPECT_EQ(out, 1);
  }
  const std::string device =
      "__device__ int elsewhere(int a);\n__global__ void k(int* out) { out[0] = elsewhere(1); }\n";
  EXPECT_THAT(why_not(backend().compiler().compile(request(device, {"k"}))),
              AllOf(StartsWith("test.cu: undefined reference to "), HasSubstr("elsewhere(int)"),
                    HasSubstr(": its definition is in another file, which a 'source' line can add")));
}

TEST(HostHeaders, LeaveTypesOfTorchToTheAuthor) {
  float out[1] = {};
  EXPECT_EQ(
      text(
          run("#include <torch/extension.h>\nnamespace torch { struct Tensor { float* data; }; }\n"
              "using at::Half;\n"
              "__global__ void k(float* y) { torch::Tensor x{y}; x.data[0] = sizeof(Half) + sizeof(c10::BFloat16); }\n",
              "k", shape(1, 1), &out[0])),
      "done");
  EXPECT_EQ(out[0], 4);
}

TEST(HostHeaders, NameAHeaderThatIsMissingWithItsPlaceAndAWayOut) {
  const TemporaryFolder folder;
  folder.write("first.h", "#pragma once\n#include \"types.h\"\nextern __shared__ int all[];\n");
  CompileRequest kernel = request("typo t;\n#include \"first.h\"\n__global__ void k(int* x) { *x = 1; }\n", {"k"});
  kernel.file_name = (folder / "k.cu").string();
  const CompileResult result = backend().compiler().compile(kernel);
  ASSERT_TRUE(std::holds_alternative<CompileError>(result));
  EXPECT_THAT(std::get<CompileError>(result).message,
              AllOf(HasSubstr("first.h:2:10: fatal error: "), HasSubstr("types.h"), HasSubstr("include_path")));
}

TEST(HostHeaders, SortKeysOfHalf) {
  const std::vector<float> out = outputs<float>(64, R"(
#include <cub/cub.cuh>
#include <cuda_fp16.h>
__global__ void k(float* out) {
  using Sort = cub::BlockRadixSort<half, 64, 1>;
  __shared__ typename Sort::TempStorage storage;
  half key[1] = {__float2half(32.0f - static_cast<float>((threadIdx.x * 7) % 64))};
  Sort(storage).Sort(key);
  out[threadIdx.x] = cub::ShuffleIndex<32>(__half2float(key[0]), threadIdx.x, 0xffffffff);
})",
                                                "k", shape(1, 64));
  EXPECT_EQ(out[0], -31);
  EXPECT_EQ(out[31], 0);
  EXPECT_EQ(out[63], 32);
}

TEST(HostHeaders, OfTheAuthorComeBeforeOursOfTheSameName) {
  const auto result = [](const std::string& name, const std::string& header, const std::string& folder) {
    const TemporaryFolder files;
    std::filesystem::create_directories((files / folder / name).parent_path());
    std::ofstream(files / folder / name) << "#ifndef OWN_H\n#define OWN_H\n" << header << "#define FACTOR 2\n#endif\n";
    CompileRequest wanted =
        request("#include \"" + name + "\"\n__global__ void k(float* x) { *x = FACTOR * sqrtf(9); }", {"k"});
    wanted.file_name = (files / "k.cu").string();
    wanted.include_paths = {(files / "include").string()};
    const auto module = load(backend().compiler().compile(wanted));
    float out = 0;
    return text(launch(*module, 0, shape(1, 1), 5, backend(), &out)) == "done" ? out : -1;
  };
  for (const std::string name : {"assert.h", "cooperative_groups.h", "cub/cub.cuh", "cuda.h", "cuda_fp16.h", "math.h"})
    for (const char* const folder : {"", "include"}) EXPECT_EQ(result(name, "", folder), 6) << folder << ' ' << name;
  for (const char* const folder : {"", "include"})
    EXPECT_EQ(result("cuda_fp16.h", "#include <cuda_fp16.h>\ninline half one() { return 1; }\n", folder), 6);
  EXPECT_THROW(result("cuda.h", "// Copyright NVIDIA Corporation\n", "include"), std::runtime_error) << "ours is meant";
}

TEST(HostHeaders, OfTheToolkitMayHaveAbsolutePaths) {
  const int out = output<int>(
      "#include \"/nowhere/cuda/include/cuda_runtime.h\"\n#include </nowhere/include/cccl/cub/cub.cuh>\n"
      "__global__ void k(int* x) { *x = sizeof(cub::BlockReduce<int, 32>) > 0; }",
      "k", shape(1, 1));
  EXPECT_EQ(out, 1);
}

TEST(HostHeaders, WithInlinePtxEndTheRunWhereItIsReached) {
  const auto outcome = [](const char* assembly) {
    unsigned out[64] = {};
    const std::string kernel = "__device__ inline unsigned value() { unsigned r = 0; " + std::string(assembly) +
                               " return r; }\n__global__ void k(unsigned* out) { out[threadIdx.x] = value(); }\n";
    const std::string said = text(run(kernel, "k", shape(1, 64), &out[0]));
    return said == "done" ? std::to_string(out[1]) + " " + std::to_string(out[34]) : said;
  };
  EXPECT_EQ(outcome("asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(r));"), "1 2");
  EXPECT_EQ(outcome("__asm__ __volatile__ (\n\"mov.u32 \t%0, %%lanemask_lt;\" : \"=r\"( r ));"), "1 3");
  EXPECT_EQ(outcome("asm(\"mov.u32 %0, %%lanemask_gt;\" : \"=r\"(r));"), "4294967292 4294967288");
  EXPECT_EQ(outcome("asm(\" mov.u32 %0, %%laneid ;\\n\\t\" : \"=r\"(r) : : \"memory\");"), "1 2");
  EXPECT_EQ(outcome("if (threadIdx.x > 99) asm(\"mov.b16 %0, 1;\" : \"=h\"(r)); else r = 7;"), "7 7");
  for (const char* const other : {"asm(\"mov.b16 %0, 1;\" : \"=h\"(r));", "asm volatile(\"bar.sync 0;\");",
                                  "asm(\"{ mov.u32 %0, %%laneid; add.u32 %0, %0, 1; }\" : \"=r\"(r));",
                                  "asm volatile(\"mov.u32 %0, %%laneid; shl.b32 %0, %0, 2;\" : \"=r\"(r));",
                                  "asm(\"mov.u32 %0, %%laneid;\"\n\"shl.b32 %0, %0, 2;\" : \"=r\"(r));",
                                  "asm(\"mov.u32 %0, %%laneid;\" /* \" */ \"shl.b32 %0, %0, 2;\" : \"=r\"(r));",
                                  "asm(\"mov.u32 %0, %%laneid;\\\\n\" : \"=r\"(r));"})
    EXPECT_THAT(outcome(other), HasSubstr("this is inline PTX, which only a GPU runs")) << other;
}

TEST(HostHeaders, TakeAssemblyWithoutAnInstructionAsABarrierForTheCompiler) {
  const auto outcome = [](const char* assembly) {
    int out = 0;
    const std::string kernel = "__global__ void k(int* x) { int r = 7; " + std::string(assembly) + " *x = r; }";
    const std::string said = text(run(kernel, "k", shape(1, 1), &out));
    return said == "done" ? std::to_string(out) : said;
  };
  for (const char* const empty :
       {"asm volatile(\"\" ::: \"memory\");", "asm(\"\");", "__asm__ __volatile__(\"\" : \"+r\"(r) : : \"memory\");",
        "if (r > 7) asm volatile(\" \\n\\t\" : : \"f\"(float(r)), \"l\"(x)); else r = 7;",
        "asm volatile(\"// no instruction\\n\"\n\" /* nor here */ \" /* ; */ ::: \"memory\");"})
    EXPECT_EQ(outcome(empty), "7") << empty;
  for (const char* const other :
       {"asm volatile(\"// one\\n bar.sync 0;\");", "asm volatile(\"\" \"bar.sync 0;\" ::: \"memory\");"})
    EXPECT_THAT(outcome(other), HasSubstr("this is inline PTX")) << other;
}

}  // namespace
}  // namespace tuner::host_test
