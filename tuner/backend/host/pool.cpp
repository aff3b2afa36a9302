#include <tuner/backend/host/pool.hpp>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <tuner/backend/host/faults.hpp>
#include <tuner/backend/host/sanitizer.hpp>
#include <tuner/core/error.hpp>

namespace tuner::host {
namespace {

constexpr std::size_t kMaxThreads = 1024;
constexpr std::chrono::milliseconds kStopInterval{5};

// Other threads of the process handle its signals; these threads take only signals that a kernel itself can cause.
void block_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGURG, SIGPROF}) sigdelset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

struct Pool::Impl {
  std::mutex mutex;
  std::condition_variable start, done;
  std::vector<std::unique_ptr<BlockRunner>> runners;  // one for each thread; made by the constructor, which may throw
  std::vector<std::thread> threads;
  std::uint64_t launch = 0;  // number of the current launch; changes wake the workers
  unsigned busy = 0;         // workers that run blocks of it
  bool open = false;         // it has blocks that no worker has begun
  bool quit = false;
  Kernel kernel;
  std::uint64_t blocks = 0, chunk = 1;
  std::uint64_t first_block = 0, step = 1;  // the i-th block to run is (first_block + i * step) % blocks
  std::vector<unsigned short> thread_order;
  std::atomic<std::uint64_t> next_block{0};
  int stop = 0;  // atomic access only
  std::optional<LaunchError> failure;
  GridBarrier barrier;

  std::uint64_t block_number(std::uint64_t i) const {
    __extension__ using Wide = unsigned __int128;
    return step == 1 && first_block == 0 ? i : static_cast<std::uint64_t>((first_block + Wide{i} * step) % blocks);
  }

  /// A step that has no common divisor with the number of blocks visits each block once.
  void set_order(const ThreadOrder& order, std::size_t threads_of_block) {
    first_block = 0;
    step = 1;
    thread_order.clear();
    if (order.kind == ThreadOrder::Kind::forward) return;
    thread_order.resize(threads_of_block);
    std::iota(thread_order.begin(), thread_order.end(), static_cast<unsigned short>(0));
    if (order.kind == ThreadOrder::Kind::reverse) {
      std::reverse(thread_order.begin(), thread_order.end());
      first_block = step = blocks - 1;
      return;
    }
    std::mt19937_64 random(order.seed);
    std::shuffle(thread_order.begin(), thread_order.end(), random);
    if (order.kind == ThreadOrder::Kind::interleaved) return;
    first_block = random() % blocks;
    do {
      step = random() % blocks;
    } while (std::gcd(step, blocks) != 1);
  }

  void stop_all() { __atomic_store_n(&stop, 1, __ATOMIC_RELEASE); }

  void work(BlockRunner& runner) {
    runner.begin(kernel);
    while (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0) {
      const std::uint64_t first = next_block.fetch_add(chunk, std::memory_order_relaxed);
      if (first >= blocks) break;
      const std::uint64_t last = std::min(first + chunk, blocks);
      for (std::uint64_t i = first; i < last && __atomic_load_n(&stop, __ATOMIC_RELAXED) == 0; ++i) {
        std::optional<std::string> error = runner.run(block_number(i));
        if (!error && kernel.barrier != nullptr) kernel.barrier->leave();
        if (!error) continue;
        const std::lock_guard lock(mutex);
        if (!failure)
          failure = LaunchError{*std::move(error), reinterpret_cast<std::uintptr_t>(runner.fault_address())};
        stop_all();
      }
    }
    std::optional<std::string> error = runner.end();
    const std::lock_guard lock(mutex);
    open = false;
    if (--busy == 0) done.notify_one();
    if (error && !failure && __atomic_load_n(&stop, __ATOMIC_RELAXED) == 0) failure = LaunchError{*std::move(error)};
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      quit = true;
    }
    start.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  void loop(BlockRunner& runner) {
    block_signals();
    const SignalStack signal_stack;
    std::uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        start.wait(lock, [&] { return quit || launch != seen; });
        if (quit) return;
        seen = launch;
        if (!open) continue;  // the others were faster: nobody waits for a thread that a busy machine starts late
        ++busy;
      }
      work(runner);
    }
  }
};

Pool::Pool(unsigned threads, std::size_t stack_bytes, std::size_t max_shared) : impl_(std::make_unique<Impl>()) {
  if (stack_bytes == 0) stack_bytes = sanitizer::kActive ? 262144 : 65536;
  for (unsigned i = 0; i < threads; ++i)
    impl_->runners.push_back(std::make_unique<BlockRunner>(kMaxThreads, max_shared, stack_bytes));
  impl_->threads.reserve(threads);
  try {
    for (const auto& runner : impl_->runners)
      impl_->threads.emplace_back([impl = impl_.get(), &runner = *runner] { impl->loop(runner); });
  } catch (const std::system_error& error) {
    throw Error("host backend: cannot start " + std::to_string(threads) +
                " threads for kernels: " + error.code().message());
  }
}

Pool::~Pool() = default;

unsigned Pool::threads() const { return static_cast<unsigned>(impl_->threads.size()); }

std::optional<std::variant<LaunchError, Timeout>> Pool::run(Kernel kernel, const ThreadOrder& order, double timeout_s) {
  Impl& pool = *impl_;
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(pool.mutex);
  pool.kernel = kernel;
  pool.kernel.stop = &pool.stop;
  pool.blocks = std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
  if (kernel.cooperative) {
    pool.barrier.begin(pool.blocks);
    pool.kernel.barrier = &pool.barrier;
  }
  pool.set_order(order, std::size_t{kernel.block[0]} * kernel.block[1] * kernel.block[2]);
  pool.kernel.order = pool.thread_order.empty() ? nullptr : pool.thread_order.data();
  pool.chunk = std::clamp<std::uint64_t>(pool.blocks / (std::uint64_t{threads()} * 16), 1, 1024);
  pool.next_block.store(0, std::memory_order_relaxed);
  __atomic_store_n(&pool.stop, 0, __ATOMIC_RELAXED);
  pool.failure.reset();
  pool.open = true;
  ++pool.launch;
  const std::uint64_t useful = std::min<std::uint64_t>(pool.blocks, threads());
  for (std::uint64_t i = 0; i < useful; ++i) pool.start.notify_one();

  const auto finished = [&pool] { return !pool.open && pool.busy == 0; };
  bool timed_out = false;
  const auto deadline = begin + std::chrono::duration<double>(timeout_s);
  while (!finished()) {
    const bool stopping = __atomic_load_n(&pool.stop, __ATOMIC_RELAXED) != 0;
    if (stopping) {
      pool.open = false;
      if (finished()) break;
      for (std::thread& thread : pool.threads) request_stop(thread.native_handle());
      pool.done.wait_for(lock, kStopInterval, finished);
    } else if (timeout_s > 0) {
      const auto slice = std::min<std::chrono::duration<double>>(deadline - std::chrono::steady_clock::now(),
                                                                 std::chrono::milliseconds(50));
      if (slice.count() <= 0) {
        timed_out = true;
        pool.stop_all();
        continue;
      }
      pool.done.wait_for(lock, slice, finished);
    } else {
      pool.done.wait_for(lock, std::chrono::milliseconds(50), finished);
    }
  }
  if (pool.failure) return *pool.failure;
  if (timed_out) {
    char text[80];
    std::snprintf(text, sizeof text, "kernel did not end within %.3g s", timeout_s);
    return Timeout{text};
  }
  return std::nullopt;
}

}  // namespace tuner::host
