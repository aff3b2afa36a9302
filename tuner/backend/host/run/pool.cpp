#include <tuner/backend/host/run/pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <system_error>

#include <tuner/backend/host/run/sanitizer.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/pulse.hpp>
#include <tuner/error.hpp>

namespace tuner::host {
namespace {

constexpr std::size_t kMaxThreads = 1024;
constexpr std::size_t kStackBytes = sanitizer::kActive ? 262144 : 65536;  // of a kernel thread
constexpr std::chrono::milliseconds kStopInterval{5};

// Operating-system threads for the blocks of clusters. More would only wait for each other.
constexpr unsigned kClusterThreads = 64;

}  // namespace

Pool::Pool(unsigned threads, std::size_t max_shared) : Pool() {  // so that ~Pool() ends the threads if one cannot start
  for (unsigned i = 0; i < threads; ++i)
    clusters_.push_back(std::make_unique<Cluster>(RunnerLimits{kMaxThreads, max_shared, kStackBytes}));
  threads_.reserve(threads);
  try {
    for (const auto& cluster : clusters_) threads_.emplace_back([this, &cluster = *cluster] { loop(cluster); });
  } catch (const std::system_error& error) {
    // The system says "try again" also if it has no memory for a stack.
    throw Error(ErrorCode::out_of_memory, "host backend: cannot start " + std::to_string(threads) +
                                              " threads for kernels: " + error.code().message());
  }
}

void Pool::set_order(const ThreadOrder& order, std::size_t threads_of_block) {
  backwards_ = order.kind == ThreadOrder::Kind::reverse;
  thread_order_.clear();
  if (order.kind == ThreadOrder::Kind::forward) return;
  thread_order_.resize(threads_of_block);
  std::iota(thread_order_.begin(), thread_order_.end(), static_cast<unsigned short>(0));
  std::mt19937_64 random(order.seed);
  if (backwards_)
    std::ranges::reverse(thread_order_);
  else
    std::ranges::shuffle(thread_order_, random);
}

std::optional<std::string> Pool::run_cluster(Cluster& cluster, std::uint64_t index) try {
  return cluster.run(index);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

/// Begins the launch, or says why the system does not let it.
void Pool::begin(Cluster& cluster) {
  try {
    cluster.begin(kernel_);
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    if (!failure_) {
      failure_ = LaunchError{error.what()};
      failure_->machine_fault = true;
      failure_->code = ErrorCode::out_of_memory;
    }
    stop_all();
  }
}

void Pool::work(Cluster& cluster) {
  begin(cluster);
  while (__atomic_load_n(&stop_, __ATOMIC_RELAXED) == 0) {
    const std::uint64_t first = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (first >= count_) break;
    const std::uint64_t last = std::min(first + chunk_, count_);
    for (std::uint64_t i = first; i < last && __atomic_load_n(&stop_, __ATOMIC_RELAXED) == 0; ++i) {
      std::optional<std::string> error = run_cluster(cluster, backwards_ ? count_ - 1 - i : i);
      if (!error && kernel_.barrier != nullptr) kernel_.barrier->leave();
      if (!error) continue;
      const std::lock_guard lock(mutex_);
      if (!failure_) {
        const bool no_memory = *error == kNoMemory;
        failure_ = LaunchError{*std::move(error), reinterpret_cast<std::uintptr_t>(cluster.fault_address())};
        required_ = cluster.required();
        failure_->machine_fault = no_memory;
        if (no_memory) failure_->code = ErrorCode::out_of_memory;
      }
      stop_all();
    }
  }
  std::optional<std::string> error = cluster.end();
  const std::lock_guard lock(mutex_);
  open_ = false;
  if (--busy_ == 0) done_.notify_one();
  if (error && !failure_ && __atomic_load_n(&stop_, __ATOMIC_RELAXED) == 0) failure_ = LaunchError{*std::move(error)};
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::loop(Cluster& cluster) {
  block_signals();
  const SignalStack signal_stack;
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return quit_ || launch_ != seen; });
      if (quit_) return;
      seen = launch_;
      if (!open_) continue;  // the others were faster: nobody waits for a thread that a busy machine starts late
      if (cluster.most_blocks() < cluster_blocks_) continue;
      ++busy_;
    }
    work(cluster);
  }
}

/// Prepares for clusters of kernel_. Returns the reason why it cannot have them.
std::optional<LaunchError> Pool::set_clusters() {
  cluster_blocks_ = 1;
  for (std::size_t i = 0; i < kernel_.cluster.size(); ++i) {
    const unsigned width = std::max(1u, kernel_.cluster[i]);
    if (kernel_.grid[i] % width != 0)
      return LaunchError{"the grid has " + std::to_string(kernel_.grid[i]) + " blocks in direction " + "xyz"[i] +
                         ", which is not a multiple of the cluster's " + std::to_string(width)};
    cluster_blocks_ *= std::min(width, Cluster::kMostBlocks + 1);  // stays small
  }
  count_ = std::uint64_t{kernel_.grid[0]} * kernel_.grid[1] * kernel_.grid[2] / cluster_blocks_;
  if (cluster_blocks_ == 1) return std::nullopt;
  if (cluster_blocks_ > Cluster::kMostBlocks)
    return LaunchError{"a cluster has more than " + std::to_string(Cluster::kMostBlocks) + " blocks"};
  if (kernel_.cooperative)
    return LaunchError{"the host backend has no cooperative launch with clusters; check this kernel on a GPU"};
  try {
    const std::size_t useful = std::clamp<std::size_t>(kClusterThreads / cluster_blocks_, 1, clusters_.size());
    for (std::size_t i = 0; i < useful; ++i) clusters_[i]->grow(cluster_blocks_);
  } catch (const Error& error) {
    LaunchError failure{error.what()};
    failure.machine_fault = true;
    failure.code = ErrorCode::out_of_memory;
    return failure;
  }
  return std::nullopt;
}

std::optional<Pool::Failure> Pool::run(Kernel kernel, const ThreadOrder& order, double timeout_s) {
  const Clock::time_point begin = Clock::now();
  std::optional<Failure> failure = run_once(kernel, order, timeout_s);
  if (!required_ || kernel.cluster != std::array<unsigned, 3>{}) return failure;
  kernel.cluster = *required_;
  return run_once(kernel, order, timeout_s <= 0 ? 0 : std::max(1e-9, timeout_s - seconds_since(begin)));
}

std::optional<Pool::Failure> Pool::run_once(const Kernel& kernel, const ThreadOrder& order, double timeout_s) {
  std::unique_lock lock(mutex_);
  kernel_ = kernel;
  kernel_.stop = &stop_;
  required_.reset();
  if (std::optional<LaunchError> failure = set_clusters()) return *std::move(failure);
  if (kernel.cooperative) {
    barrier_.begin(count_);
    kernel_.barrier = &barrier_;
  }
  set_order(order, std::size_t{kernel.block[0]} * kernel.block[1] * kernel.block[2]);
  kernel_.order = thread_order_.empty() ? nullptr : thread_order_.data();
  chunk_ = std::clamp<std::uint64_t>(count_ / (std::uint64_t{threads()} * 16), 1, 1024);
  next_.store(0, std::memory_order_relaxed);
  __atomic_store_n(&stop_, 0, __ATOMIC_RELAXED);
  failure_.reset();
  open_ = true;
  ++launch_;
  // Only some threads have others for the blocks of a cluster.
  const std::uint64_t useful = cluster_blocks_ > 1 ? threads() : std::min<std::uint64_t>(count_, threads());
  for (std::uint64_t i = 0; i < useful; ++i) start_.notify_one();

  const auto finished = [this] { return !open_ && busy_ == 0; };
  bool timed_out = false;
  Pulse pulse(Clock::now(), processor_seconds());
  double left_s = timeout_s;
  while (!finished()) {
    const bool stopping = __atomic_load_n(&stop_, __ATOMIC_RELAXED) != 0;
    if (stopping) {
      open_ = false;
      if (finished()) break;
      for (std::thread& thread : threads_) request_stop(thread.native_handle());
      for (const auto& cluster : clusters_) cluster->request_stop();
      done_.wait_for(lock, kStopInterval, finished);
    } else if (timeout_s > 0) {
      left_s -= pulse.beat(Clock::now(), processor_seconds());
      const auto slice =
          std::min<std::chrono::duration<double>>(std::chrono::duration<double>(left_s), std::chrono::milliseconds(50));
      if (slice.count() <= 0) {
        timed_out = true;
        stop_all();
        continue;
      }
      done_.wait_for(lock, slice, finished);
    } else {
      done_.wait_for(lock, std::chrono::milliseconds(50), finished);
    }
  }
  if (failure_) return *failure_;
  if (timed_out) {
    char text[80];
    std::snprintf(text, sizeof text, "kernel did not end within %.3g s", timeout_s);
    return Timeout{text};
  }
  return std::nullopt;
}

}  // namespace tuner::host
