#pragma once
/// Times enqueued calls on a GPU, each with a cold L2. Interleaves several calls, so that drift affects all alike.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include <bench/device_memory.hpp>

namespace bench {

class GpuClock {
 public:
  /// For the current device; calls must enqueue on \p stream.
  explicit GpuClock(cudaStream_t stream);
  ~GpuClock();
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  /// Samples in us, a list for each of \p calls: \p rounds of them, after \p warm_up rounds that are dropped. Each
  /// round runs every call once and reverses the order, so samples of one round can be compared in pairs. Before each
  /// sample, twice the size of L2 is written (which evicts everything) and four times its size is read (which leaves no
  /// lines to write back). The call is enqueued while that runs, so the host's part is not timed.
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
