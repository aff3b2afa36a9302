#include <tuner/backend/cuda/run/stream_timer.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <tuner/core/values/pulse.hpp>

namespace tuner::cuda {
namespace {

// The driver blocks a launch while about 1024 are queued. On a held stream, that would last until the hold expires.
constexpr std::size_t kQueueLimit = 600;
constexpr unsigned long long kHoldLimitNs = 500'000'000;

constexpr double kLeastWaitSeconds = 0.5;

/// A kernel before the timed one runs long enough for the driver to have the next one ready.
constexpr unsigned long long kLeadNs = 5'000;

enum TimerKernel : std::size_t { kHold, kStamp, kFlush, kLead, kRefill };

/// A header such as cooperative_groups.h has sixty variables of a byte, and a command for each would take longer than
/// most kernels. Refills up to this size share a launch.
constexpr std::size_t kSmallBytes = 4096;
constexpr unsigned kRefillThreads = 128;

struct SmallRefill {  // as in support/sampling.cu
  CUdeviceptr to, from;
  unsigned bytes, value;
};

constexpr std::size_t kMostSmall = 128;  // of one launch

struct SmallRefills {
  SmallRefill of_block[kMostSmall];
};

struct Stamp {  // as in support/sampling.cu
  unsigned long long cycles, nanoseconds;
  unsigned sm, expired;
};

/// How many commands StreamTimer::refill() queues.
std::size_t commands_of(std::span<const Refill> refills) {
  std::size_t small = 0, large = 0;
  for (const Refill& one : refills) {
    small += one.bytes > 0 && one.bytes <= kSmallBytes;
    large += one.bytes > kSmallBytes;
  }
  return large + (small + kMostSmall - 1) / kMostSmall;
}

/// 0 if the stamps are from different SMs, or too close together for the timer's resolution.
double megahertz(const Stamp& begin, const Stamp& end) {
  constexpr unsigned long long kShortest = 10'000;
  if (begin.sm != end.sm || end.nanoseconds < begin.nanoseconds + kShortest || end.cycles <= begin.cycles) return 0;
  return 1e3 * static_cast<double>(end.cycles - begin.cycles) /
         static_cast<double>(end.nanoseconds - begin.nanoseconds);
}

}  // namespace

struct StreamTimer::Shared {
  std::atomic<unsigned> released;
  Stamp held, let_go, after;
};

Deadline deadline_after(double seconds) {
  if (seconds <= 0) return std::nullopt;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

CUresult wait_for(CUstream stream, const Deadline& deadline) {
  const Clock::time_point start = Clock::now();
  Pulse pulse(start);
  // This process may have been paused before this call, too, or have waited for a processor.
  double left_s = deadline ? std::max(std::chrono::duration<double>(*deadline - start).count(), kLeastWaitSeconds) : 0;
  for (;;) {
    const CUresult result = driver().cuStreamQuery(stream);
    if (result != CUDA_ERROR_NOT_READY) return result;
    const Clock::time_point now = Clock::now();
    left_s -= pulse.beat(now);
    if (deadline && left_s < 0) return CUDA_ERROR_NOT_READY;
    // Notices the end of a short kernel at once, but does not occupy a core for a long one.
    if (now - start > std::chrono::milliseconds(5)) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

CompileRequest StreamTimer::request(const std::string& architecture) {
  return support_request("sampling.cu",
                         {"tuner_support::hold", "tuner_support::stamp", "tuner_support::flush", "tuner_support::lead",
                          "tuner_support::refill"},
                         architecture);
}

StreamTimer::StreamTimer(const CompileResult& compiled, CUstream stream, std::int64_t l2_bytes, int sm_count)
    : stream_(stream),
      sm_count_(static_cast<unsigned>(sm_count)),
      kernels_(compiled),
      mapped_(sizeof(Shared)),
      begin_(make_event()),
      end_(make_event()),
      flush_bytes_(2 * l2_bytes / 16 * 16) {
  const std::size_t bytes = static_cast<std::size_t>(flush_bytes_) + 256;  // the last word is the kernel's sink
  check(driver().cuMemAlloc(&flush_data_, bytes), "cuMemAlloc");
  check(driver().cuMemsetD8Async(flush_data_, 0, bytes, stream_), "cuMemsetD8Async");
  // First launches happen here, because they may wait for the device, which is not possible while the stream is held.
  release();
  hold();
  launch_support(kernels_[kStamp], 1, 1, stream_, mapped_.device() + offsetof(Shared, after));
  flush();
  lead();
  launch_support(kernels_[kRefill], 1, kRefillThreads, stream_, SmallRefills{});
  check(wait_for(stream_, deadline_after(10)), "cuStreamQuery");
}

StreamTimer::~StreamTimer() {
  if (flush_data_ != 0) driver().cuMemFree(flush_data_);
}

void StreamTimer::leak() noexcept {
  flush_data_ = 0;
  graph_.leak();
  mapped_.leak();
  kernels_.leak();
  (void)begin_.release();
  (void)end_.release();
}

StreamTimer::Shared& StreamTimer::shared() const { return *static_cast<Shared*>(mapped_.host()); }

/// Makes the stream wait until release() is called for the same ticket.
void StreamTimer::hold() {
  launch_support(kernels_[kHold], 1, 1, stream_, mapped_.device() + offsetof(Shared, released), ticket_, kHoldLimitNs,
                 mapped_.device() + offsetof(Shared, held), mapped_.device() + offsetof(Shared, let_go));
}

void StreamTimer::release() { shared().released.store(ticket_, std::memory_order_release); }

void StreamTimer::flush() {
  launch_support(kernels_[kFlush], 4 * sm_count_, 512, stream_, flush_data_,
                 static_cast<unsigned long long>(flush_bytes_ / 16),
                 flush_data_ + static_cast<CUdeviceptr>(flush_bytes_));
}

void StreamTimer::lead() { launch_support(kernels_[kLead], sm_count_, 32, stream_, kLeadNs); }

CUresult StreamTimer::refill(std::span<const Refill> refills) {
  const Driver& cu = driver();
  SmallRefills small{};
  unsigned count = 0;
  const auto launch_small = [&] {
    if (count == 0) return CUDA_SUCCESS;
    void* arguments[] = {&small};
    const unsigned blocks = std::exchange(count, 0);
    return cu.cuLaunchKernel(kernels_[kRefill], blocks, 1, 1, kRefillThreads, 1, 1, 0, stream_, arguments, nullptr);
  };
  for (const Refill& one : refills) {
    if (one.bytes == 0) continue;
    CUresult result = CUDA_SUCCESS;
    if (one.bytes <= kSmallBytes) {
      small.of_block[count++] = {one.to, one.from, static_cast<unsigned>(one.bytes), one.value};
      if (count == kMostSmall) result = launch_small();
    } else {
      result = one.from != 0 ? cu.cuMemcpyDtoDAsync(one.to, one.from, one.bytes, stream_)
                             : cu.cuMemsetD8Async(one.to, one.value, one.bytes, stream_);
    }
    if (result != CUDA_SUCCESS) return result;
  }
  return launch_small();
}

/// The clock during the sample; if its stamps do not show it, during the kernel that held the stream before.
double StreamTimer::clock_mhz() const {
  const double around = megahertz(shared().let_go, shared().after);
  return around > 0 ? around : megahertz(shared().held, shared().let_go);
}

/// Queues the runs of one sample. Calls \p queued with the number of operations after each few.
CUresult StreamTimer::queue_runs(std::span<PreparedLaunch> launches, const SampleRequest& request,
                                 const std::function<void(std::size_t)>& queued) {
  for (std::size_t run = 0; run < request.batch; ++run) {
    if (request.refills_each_run) {
      if (const CUresult result = refill(request.refills); result != CUDA_SUCCESS) return result;
      queued(commands_of(request.refills));
    }
    for (PreparedLaunch& launch : launches) {
      if (const CUresult result = launch(stream_); result != CUDA_SUCCESS) return result;
      queued(1);
    }
  }
  return CUDA_SUCCESS;
}

/// Makes the graph of one sample, and replays it once: a first replay may wait for the device, which is held later.
std::optional<SamplingFailure> StreamTimer::capture(std::span<PreparedLaunch> before,
                                                    std::span<PreparedLaunch> launches, const SampleRequest& request,
                                                    const Deadline& deadline) {
  CUresult result =
      graph_.capture(stream_, [&] { return queue_runs(launches, request, [](std::size_t /*count*/) {}); });
  if (result != CUDA_SUCCESS) return SamplingFailure{result, true};
  result = refill(request.refills);
  for (PreparedLaunch& launch : before)
    if (result == CUDA_SUCCESS) result = launch(stream_);
  if (result == CUDA_SUCCESS) result = graph_.replay(stream_);
  if (result != CUDA_SUCCESS) return SamplingFailure{result, true};
  result = wait_for(stream_, deadline);
  if (result != CUDA_SUCCESS) return SamplingFailure{result, false};
  return std::nullopt;
}

std::optional<SamplingFailure> StreamTimer::queue(std::span<PreparedLaunch> before, std::span<PreparedLaunch> launches,
                                                  const SampleRequest& request) {
  const Driver& cu = driver();
  ++ticket_;
  hold();
  std::size_t queued = 1;
  const auto add = [&](std::size_t more) {
    if (queued < kQueueLimit && queued + more >= kQueueLimit) release();
    queued += more;
  };
  CUresult result = CUDA_SUCCESS;
  if (!request.refills_each_run) {
    result = refill(request.refills);
    add(commands_of(request.refills));
  }
  for (PreparedLaunch& launch : before) {
    if (result == CUDA_SUCCESS) result = launch(stream_);
    add(1);
  }
  // After the preparing launches, which leave the data in L2.
  if (request.use == Use::single && result == CUDA_SUCCESS) flush();
  if (request.use == Use::stream && result == CUDA_SUCCESS) lead();
  if (result == CUDA_SUCCESS) check(cu.cuEventRecord(begin_.get(), stream_), "cuEventRecord");
  if (result == CUDA_SUCCESS)
    result = request.use == Use::graph ? graph_.replay(stream_) : queue_runs(launches, request, add);
  if (result != CUDA_SUCCESS) {
    release();
    return SamplingFailure{result, true};
  }
  check(cu.cuEventRecord(end_.get(), stream_), "cuEventRecord");
  launch_support(kernels_[kStamp], 1, 1, stream_, mapped_.device() + offsetof(Shared, after));
  release();
  return std::nullopt;
}

std::optional<SamplingFailure> StreamTimer::sample(std::span<PreparedLaunch> launches, const SampleRequest& request,
                                                   const Deadline& deadline, std::vector<Sample>& samples,
                                                   std::span<PreparedLaunch> before) {
  graph_.reset();  // that of a sample that failed
  if (request.use == Use::graph)
    if (std::optional<SamplingFailure> failure = capture(before, launches, request, deadline)) return failure;
  double each = 0;  // seconds that the sample before took
  for (std::size_t left = request.samples; left > 0; --left) {
    if (deadline && !samples.empty() && Clock::now() > *deadline) break;
    const Clock::time_point start = Clock::now();
    if (std::optional<SamplingFailure> failure = queue(before, launches, request)) return failure;
    CUresult result = wait_for(stream_, deadline);
    // If samples do end, the kernel is slow but does not hang, and giving up a running kernel costs the process.
    if (result == CUDA_ERROR_NOT_READY && each > 0) result = wait_for(stream_, deadline_after(2 * each + 0.01));
    if (result != CUDA_SUCCESS) return SamplingFailure{result, false};
    float milliseconds = 0;
    check(driver().cuEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "cuEventElapsedTime");
    samples.push_back({static_cast<double>(milliseconds) * 1e6 / static_cast<double>(request.batch), clock_mhz()});
    each = std::chrono::duration<double>(Clock::now() - start).count();
  }
  graph_.reset();  // before its kernels are unloaded
  return std::nullopt;
}

}  // namespace tuner::cuda
