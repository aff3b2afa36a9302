#pragma once
/// Times launches on one stream. Preparation, flush, event, work, event are queued for a group of samples behind a
/// kernel that holds the stream, then released together: nothing the host does falls into a timed interval.

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include <tuner/core/elapsed.hpp>
#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/context.hpp>
#include <tuner/backend/cuda/kernel_function.hpp>
#include <tuner/backend/cuda/support_kernels.hpp>

namespace tuner::cuda {

/// A launch that can be made; \p arguments point into memory that outlives it.
struct PreparedLaunch {
  CUfunction function = nullptr;
  LaunchShape shape;
  std::vector<void*> arguments;

  CUresult operator()(CUstream stream) { return launch_kernel(function, shape, arguments.data(), stream); }
};

/// When to stop waiting; never without a value.
using Deadline = std::optional<Clock::time_point>;
Deadline deadline_after(double seconds);  ///< 0: never

/// CUDA_SUCCESS once \p stream is idle, CUDA_ERROR_NOT_READY when \p deadline passed first, else the stream's error.
CUresult wait_for(CUstream stream, const Deadline& deadline);

/// How a group of samples ended when it was not measured.
struct SamplingFailure {
  CUresult result = CUDA_SUCCESS;  ///< CUDA_ERROR_NOT_READY: the deadline passed
  bool launching = false;          ///< refused by the driver; nothing is running
};

class StreamTimer {
 public:
  /// In the current context, on \p stream. \p l2_bytes: what a cold sample evicts.
  StreamTimer(const CompileResult& compiled, CUstream stream, std::int64_t l2_bytes, int sm_count);
  /// What \p compiled is the result of.
  static CompileRequest request(const std::string& architecture);
  ~StreamTimer();
  StreamTimer(const StreamTimer&) = delete;
  StreamTimer& operator=(const StreamTimer&) = delete;

  /// Appends samples to \p samples; fewer than asked for when the deadline passes; a sample that
  /// alone takes longer fails. A group under way is finished. Every kernel
  /// has to have run before: a first launch may wait for the device, which is held. \p before: SampleRequest::prepare.
  std::optional<SamplingFailure> sample(std::span<PreparedLaunch> launches, const SampleRequest& request,
                                        const Deadline& deadline, std::vector<Sample>& samples,
                                        std::span<PreparedLaunch> before = {});
  /// Queues the eviction of everything from L2.
  void flush();
  /// Gives up every handle: a lost context cannot free them.
  void leak() noexcept;

 private:
  struct Shared;  // memory that the host and the kernels see
  std::optional<SamplingFailure> queue(std::span<PreparedLaunch> before, std::span<PreparedLaunch> launches,
                                       const SampleRequest& request, std::size_t count);
  Deadline grace(Clock::time_point start, std::size_t size, double each) const;
  void hold();
  void release();
  double clock_mhz() const;
  Shared& shared() const;

  CUstream stream_;
  unsigned sm_count_;
  SupportKernels kernels_;
  MappedMemory mapped_;
  std::vector<UniqueEvent> events_;  // start and end of each sample of a group
  CUdeviceptr flush_data_ = 0;
  std::int64_t flush_bytes_ = 0;
  unsigned ticket_ = 0;
};

}  // namespace tuner::cuda
