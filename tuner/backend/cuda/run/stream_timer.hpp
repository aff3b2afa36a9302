#pragma once
/// Times launches on one stream. A kernel holds the stream while the host queues one sample: refills, preparation,
/// flush or another kernel, event, work, event. Then the stream is released, so no delay of the host is timed. Only a
/// stamp follows the work: a launch takes half a microsecond longer if some ten commands follow it
/// (bench/queue_depth.cu).

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/backend/cuda/run/captured_runs.hpp>
#include <tuner/backend/cuda/run/cuda_module.hpp>
#include <tuner/backend/cuda/run/support_kernels.hpp>
#include <tuner/core/values/elapsed.hpp>

namespace tuner::cuda {

/// A launch with all that the driver needs. \p arguments point into memory that outlives it.
struct PreparedLaunch {
  CUfunction function = nullptr;
  LaunchShape shape;
  std::vector<void*> arguments;

  CUresult operator()(CUstream stream) { return launch_kernel(function, shape, arguments.data(), stream); }
};

/// When to stop waiting; nullopt: never.
using Deadline = std::optional<Clock::time_point>;
Deadline deadline_after(double seconds);  ///< 0: never

/// Waits for \p stream. CUDA_SUCCESS: it is idle. CUDA_ERROR_NOT_READY: \p deadline passed first. Else: its error.
CUresult wait_for(CUstream stream, const Deadline& deadline);

/// Why a sample was not measured.
struct SamplingFailure {
  CUresult result = CUDA_SUCCESS;  ///< CUDA_ERROR_NOT_READY: the deadline passed
  bool launching = false;          ///< the driver refused a launch
};

class StreamTimer {
 public:
  /// In the current context, on \p stream. \p l2_bytes: the size of the cache that is flushed for a cold sample.
  StreamTimer(const CompileResult& compiled, CUstream stream, std::int64_t l2_bytes, int sm_count);
  /// The request whose result is the constructor's \p compiled.
  static CompileRequest request(const std::string& architecture);
  ~StreamTimer();
  StreamTimer(const StreamTimer&) = delete;
  StreamTimer& operator=(const StreamTimer&) = delete;

  /// Appends samples to \p samples. Stops early when the deadline passes, but first finishes the current sample; fails
  /// if not even one ends in time. Each kernel must have run before: a first launch may wait for the device,
  /// which is held. \p before: SampleRequest::prepare.
  std::optional<SamplingFailure> sample(std::span<PreparedLaunch> launches, const SampleRequest& request,
                                        const Deadline& deadline, std::vector<Sample>& samples,
                                        std::span<PreparedLaunch> before = {});
  /// Queues \p refills as few commands. None of them may wait for the device, which is so from their second time on.
  CUresult refill(std::span<const Refill> refills);
  /// Queues a kernel that evicts all data from L2.
  void flush();
  /// Drops all handles: those of a lost context cannot be freed.
  void leak() noexcept;

 private:
  struct Shared;  // memory that the host and the kernels share
  std::optional<SamplingFailure> queue(std::span<PreparedLaunch> before, std::span<PreparedLaunch> launches,
                                       const SampleRequest& request);
  CUresult queue_runs(std::span<PreparedLaunch> launches, const SampleRequest& request,
                      const std::function<void(std::size_t)>& queued);
  std::optional<SamplingFailure> capture(std::span<PreparedLaunch> before, std::span<PreparedLaunch> launches,
                                         const SampleRequest& request, const Deadline& deadline);
  void hold();
  void lead();
  void release();
  double clock_mhz() const;
  Shared& shared() const;

  CUstream stream_;
  unsigned sm_count_;
  SupportKernels kernels_;
  MappedMemory mapped_;
  UniqueEvent begin_, end_;
  CapturedRuns graph_;  // the runs of a sample that is a replay
  CUdeviceptr flush_data_ = 0;
  std::int64_t flush_bytes_ = 0;
  unsigned ticket_ = 0;
};

}  // namespace tuner::cuda
