#pragma once
/// Times of enqueued calls on a GPU, each with a cold L2, several calls interleaved so that drift meets all alike.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include <bench/device_memory.hpp>

namespace bench {

class GpuClock {
 public:
  /// For the current device; calls are enqueued on \p stream.
  explicit GpuClock(cudaStream_t stream);
  ~GpuClock();
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  /// Samples in us, a list for each of \p calls: \p rounds of them after \p warm_up that are thrown away. In each round
  /// every call runs once, in an order that turns around from round to round; samples of one round can be compared in
  /// pairs. Before each, twice the L2 is written (which evicts everything) and four times the L2 is read (which leaves
  /// it without lines to write back); the call is enqueued while that runs, so that the host's share of it is not
  /// timed.
  std::vector<std::vector<double>> interleaved(std::span<const std::function<void()>> calls, std::size_t rounds,
                                               std::size_t warm_up = 5);

 private:
  double sample(const std::function<void()>& call);

  cudaStream_t stream_;
  std::size_t l2_bytes_;
  DeviceMemory flushed_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace bench
