#include <cstdint>
#include <stdexcept>
#include <string>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <cub/version.cuh>
#include <cuda/std/functional>
#include <cuda/std/tuple>
#include <cuda_fp16.h>

#include <bench/cub_calls.hpp>

namespace bench {
namespace {

constexpr int kThreads = 256;

int blocks() {
  int device = 0, multiprocessors = 1;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return 8 * multiprocessors;
}

__device__ std::uint32_t mixed(std::uint64_t i, std::uint32_t seed) {
  std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull ^ seed;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  return static_cast<std::uint32_t>(x >> 40);
}

template <typename T>
__device__ T number(std::uint32_t bits) {
  return static_cast<T>(static_cast<float>(bits & 255) / 256);
}
template <>
__device__ int number<int>(std::uint32_t bits) {
  return static_cast<int>(bits & 255) - 126;
}

template <typename T>
__global__ void fill_kernel(T* data, std::size_t n, std::uint32_t seed) {
  const std::size_t step = std::size_t{blockDim.x} * gridDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    data[i] = number<T>(mixed(i, seed));
}

/// The store never happens: no caller passes 1 << 62 vectors. The compiler does not know that and keeps the loads.
__global__ void read_kernel(const uint4* data, std::size_t n, std::uint32_t* never) {
  std::uint32_t seen = 0;
  const std::size_t step = std::size_t{blockDim.x} * gridDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const uint4 v = data[i];
    seen ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (n >> 62 != 0) *never = seen;
}

__global__ void differences_kernel(const std::uint32_t* a, const std::uint32_t* b, std::size_t n,
                                   unsigned long long* count) {
  unsigned long long different = 0;
  const std::size_t step = std::size_t{blockDim.x} * gridDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) different += a[i] != b[i];
  if (different != 0) atomicAdd(count, different);
}

__global__ void empty(const void*, void*, long long) {}

struct ToFloat {
  __device__ float operator()(__half value) const { return __half2float(value); }
};

template <typename Count>
cudaError_t sum(Element element, void* storage, std::size_t& bytes, const void* data, Count n, void* out,
                cudaStream_t stream) {
  switch (element) {
    case Element::int32:
      return cub::DeviceReduce::Sum(storage, bytes, static_cast<const int*>(data), static_cast<int*>(out), n, stream);
    case Element::float32:
      return cub::DeviceReduce::Sum(storage, bytes, static_cast<const float*>(data), static_cast<float*>(out), n,
                                    stream);
    case Element::float64:
      return cub::DeviceReduce::Sum(storage, bytes, static_cast<const double*>(data), static_cast<double*>(out), n,
                                    stream);
    case Element::half:
      return cub::DeviceReduce::TransformReduce(storage, bytes, static_cast<const __half*>(data),
                                                static_cast<float*>(out), n, cuda::std::plus<>{}, ToFloat{}, 0.0f,
                                                stream);
  }
  return cudaErrorInvalidValue;
}

cudaError_t sum_counting(Element element, void* storage, std::size_t& bytes, const void* data, std::size_t n, void* out,
                         cudaStream_t stream) {
  return n < std::size_t{1} << 31 ? sum(element, storage, bytes, data, static_cast<int>(n), out, stream)
                                  : sum(element, storage, bytes, data, static_cast<std::int64_t>(n), out, stream);
}

}  // namespace

void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
}

std::string cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + '.' + std::to_string(CUB_MINOR_VERSION) + '.' +
         std::to_string(CUB_SUBMINOR_VERSION);
}

std::size_t cub_sum_bytes(Element element, std::size_t n) {
  std::size_t bytes = 0;
  check(sum_counting(element, nullptr, bytes, nullptr, n, nullptr, nullptr), "cub::DeviceReduce");
  return bytes;
}

void cub_sum(Element element, void* storage, std::size_t bytes, const void* data, std::size_t n, void* out,
             cudaStream_t stream) {
  check(sum_counting(element, storage, bytes, data, n, out, stream), "cub::DeviceReduce");
}

void cub_add(const float* a, const float* b, float* c, std::size_t n, cudaStream_t stream) {
  check(cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b), c, static_cast<std::int64_t>(n),
                                        cuda::std::plus<>{}, stream),
        "cub::DeviceTransform");
}

void fill(Element element, void* data, std::size_t n, std::uint32_t seed, cudaStream_t stream) {
  const auto launch = [&](auto* typed) { fill_kernel<<<blocks(), kThreads, 0, stream>>>(typed, n, seed); };
  switch (element) {
    case Element::int32:
      launch(static_cast<int*>(data));
      break;
    case Element::float32:
      launch(static_cast<float*>(data));
      break;
    case Element::float64:
      launch(static_cast<double*>(data));
      break;
    case Element::half:
      launch(static_cast<__half*>(data));
      break;
  }
  check(cudaGetLastError(), "the kernel that fills");
}

void read_all(const void* data, std::size_t bytes, cudaStream_t stream) {
  read_kernel<<<blocks(), kThreads, 0, stream>>>(static_cast<const uint4*>(data), bytes / sizeof(uint4), nullptr);
  check(cudaGetLastError(), "the kernel that reads");
}

std::uint64_t count_differences(const void* a, const void* b, std::size_t n, cudaStream_t stream) {
  unsigned long long* count = nullptr;
  unsigned long long result = 0;
  check(cudaMallocAsync(&count, sizeof(result), stream), "cudaMallocAsync");
  check(cudaMemsetAsync(count, 0, sizeof(result), stream), "cudaMemsetAsync");
  differences_kernel<<<blocks(), kThreads, 0, stream>>>(static_cast<const std::uint32_t*>(a),
                                                        static_cast<const std::uint32_t*>(b), n, count);
  check(cudaGetLastError(), "the kernel that compares");
  check(cudaMemcpyAsync(&result, count, sizeof(result), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaFreeAsync(count, stream), "cudaFreeAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return result;
}

CUfunction empty_kernel() {
  cudaFunction_t function = nullptr;
  check(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&empty)), "cudaGetFuncBySymbol");
  return function;
}

}  // namespace bench
