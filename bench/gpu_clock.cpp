#include <bench/gpu_clock.hpp>

#include <algorithm>

#include <bench/cub_calls.hpp>

namespace bench {
namespace {

std::size_t l2_bytes() {
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
  return std::max<std::size_t>(static_cast<std::size_t>(bytes), std::size_t{16} << 20);
}

}  // namespace

GpuClock::GpuClock(cudaStream_t stream) : stream_(stream), l2_bytes_(l2_bytes()), flushed_(allocate(4 * l2_bytes_)) {
  check(cudaEventCreate(&start_), "cudaEventCreate");
  check(cudaEventCreate(&stop_), "cudaEventCreate");
}

GpuClock::~GpuClock() {
  cudaEventDestroy(start_);
  cudaEventDestroy(stop_);
}

double GpuClock::sample(const std::function<void()>& call) {
  check(cudaMemsetAsync(flushed_.get(), 0, 2 * l2_bytes_, stream_), "cudaMemsetAsync");
  read_all(flushed_.get(), 4 * l2_bytes_, stream_);
  check(cudaEventRecord(start_, stream_), "cudaEventRecord");
  call();
  check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
  check(cudaEventSynchronize(stop_), "cudaEventSynchronize");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
  return double(milliseconds) * 1e3;
}

std::vector<std::vector<double>> GpuClock::interleaved(std::span<const std::function<void()>> calls, std::size_t rounds,
                                                       std::size_t warm_up) {
  std::vector<std::vector<double>> samples(calls.size());
  for (std::size_t round = 0; round < warm_up + rounds; ++round) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::size_t at = round % 2 == 0 ? i : calls.size() - 1 - i;
      const double us = sample(calls[at]);
      if (round >= warm_up) samples[at].push_back(us);
    }
  }
  return samples;
}

}  // namespace bench
