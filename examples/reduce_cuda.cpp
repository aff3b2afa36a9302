// Reductions of device memory from the CUDA runtime. The first run of the first size tunes for at most two seconds
// unless there is shipped wisdom for the GPU. The next process is served at once.
#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <vector>

#include <tuner/reduce.hpp>

namespace {

bool ok(cudaError_t status, const char* call) {
  if (status != cudaSuccess) std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
  return status == cudaSuccess;
}

}  // namespace

int main() try {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU on this machine\n");
    return 77;
  }

  constexpr std::size_t n = 1 << 24;
  const std::vector<float> ones(n, 1.0f);
  float *data = nullptr, *sum = nullptr;
  cudaStream_t stream = nullptr;
  if (!ok(cudaMalloc(&data, n * sizeof(float)), "cudaMalloc") || !ok(cudaMalloc(&sum, sizeof(float)), "cudaMalloc") ||
      !ok(cudaMemcpy(data, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy") ||
      !ok(cudaStreamCreate(&stream), "cudaStreamCreate")) {
    return 1;
  }

  const float total = tuner::reduce(data, n);
  const float largest = tuner::reduce(data, n, tuner::Operation::max);

  tuner::ReduceOptions options;
  options.stream = stream;
  tuner::reduce_async(data + 1, n - 1, sum, options);  // returns at once, any alignment
  float rest = 0;
  if (!ok(cudaMemcpyAsync(&rest, sum, sizeof rest, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync") ||
      !ok(cudaStreamSynchronize(stream), "cudaStreamSynchronize")) {
    return 1;
  }

  std::printf("sum %.0f, max %.0f, sum of all but the first %.0f\n", total, largest, rest);
  cudaStreamDestroy(stream);
  cudaFree(sum);
  cudaFree(data);
  return total == n && largest == 1 && rest == n - 1 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
