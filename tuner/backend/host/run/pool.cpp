#include <tuner/backend/host/run/pool.hpp>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <system_error>

#include <tuner/backend/host/run/sanitizer.hpp>
#include <tuner/core/values/pulse.hpp>
#include <tuner/error.hpp>

namespace tuner::host {
namespace {

constexpr std::size_t kMaxThreads = 1024;
constexpr std::size_t kStackBytes = sanitizer::kActive ? 262144 : 65536;  // of a kernel thread
constexpr std::chrono::milliseconds kStopInterval{5};

// Other threads of the process handle its signals; these threads take only signals that a kernel itself can cause.
void block_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGURG, SIGPROF}) sigdelset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

Pool::Pool(unsigned threads, std::size_t max_shared) : Pool() {  // so that ~Pool() ends the threads if one cannot start
  for (unsigned i = 0; i < threads; ++i)
    runners_.push_back(std::make_unique<BlockRunner>(kMaxThreads, max_shared, kStackBytes));
  threads_.reserve(threads);
  try {
    for (const auto& runner : runners_) threads_.emplace_back([this, &runner = *runner] { loop(runner); });
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

std::optional<std::string> Pool::run_block(BlockRunner& runner, std::uint64_t block) try {
  return runner.run(block);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

void Pool::work(BlockRunner& runner) {
  runner.begin(kernel_);
  while (__atomic_load_n(&stop_, __ATOMIC_RELAXED) == 0) {
    const std::uint64_t first = next_block_.fetch_add(chunk_, std::memory_order_relaxed);
    if (first >= blocks_) break;
    const std::uint64_t last = std::min(first + chunk_, blocks_);
    for (std::uint64_t i = first; i < last && __atomic_load_n(&stop_, __ATOMIC_RELAXED) == 0; ++i) {
      std::optional<std::string> error = run_block(runner, backwards_ ? blocks_ - 1 - i : i);
      if (!error && kernel_.barrier != nullptr) kernel_.barrier->leave();
      if (!error) continue;
      const std::lock_guard lock(mutex_);
      if (!failure_) {
        const bool no_memory = *error == kNoMemory;
        failure_ = LaunchError{*std::move(error), reinterpret_cast<std::uintptr_t>(runner.fault_address())};
        failure_->machine_fault = no_memory;
        if (no_memory) failure_->code = ErrorCode::out_of_memory;
      }
      stop_all();
    }
  }
  std::optional<std::string> error = runner.end();
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

void Pool::loop(BlockRunner& runner) {
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
      ++busy_;
    }
    work(runner);
  }
}

std::optional<std::variant<LaunchError, Timeout>> Pool::run(Kernel kernel, const ThreadOrder& order, double timeout_s) {
  std::unique_lock lock(mutex_);
  kernel_ = kernel;
  kernel_.stop = &stop_;
  blocks_ = std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
  if (kernel.cooperative) {
    barrier_.begin(blocks_);
    kernel_.barrier = &barrier_;
  }
  set_order(order, std::size_t{kernel.block[0]} * kernel.block[1] * kernel.block[2]);
  kernel_.order = thread_order_.empty() ? nullptr : thread_order_.data();
  chunk_ = std::clamp<std::uint64_t>(blocks_ / (std::uint64_t{threads()} * 16), 1, 1024);
  next_block_.store(0, std::memory_order_relaxed);
  __atomic_store_n(&stop_, 0, __ATOMIC_RELAXED);
  failure_.reset();
  open_ = true;
  ++launch_;
  const std::uint64_t useful = std::min<std::uint64_t>(blocks_, threads());
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
