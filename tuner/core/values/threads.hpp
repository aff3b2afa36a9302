#pragma once
/// For threads of the library. The program's own threads handle its signals.

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <future>
#include <initializer_list>
#include <mutex>
#include <thread>
#include <vector>

namespace tuner {

/// Like std::call_once, for work that may throw. In a program linked with -static-libgcc, an exception that passes
/// through std::call_once aborts the program, because glibc's frame in between belongs to the shared unwinder.
class Once {
 public:
  /// Runs \p work unless an earlier run has succeeded. Waits while another thread runs it.
  template <typename Work>
  void run(Work&& work) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    work();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_ = false;
  std::mutex mutex_;
};

/// Threads that are started in the scope of this object get no signals but those of their faults.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t blocked;
    ::sigfillset(&blocked);
    // If a fault's signal is blocked, the process ends without its handler.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigdelset(&blocked, fault);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

/// Calls \p work with each index below \p count, in this thread and in one for each other core. After an exception it
/// begins no further call, and throws it when the others have ended.
template <typename Work>
void on_all_cores(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto some = [&] {
    try {
      for (std::size_t i; (i = next++) < count;) work(i);
    } catch (...) {
      next = count;
      throw;
    }
  };
  std::vector<std::future<void>> others;
  {
    const WithoutSignals calm;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < std::min(count, cores); ++i) others.push_back(std::async(some));
  }
  some();
  for (std::future<void>& one : others) one.get();
}

}  // namespace tuner
