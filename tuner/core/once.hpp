#pragma once
/// Like std::call_once, for work that may throw. In a program linked with -static-libgcc, an exception that passes
/// through std::call_once aborts the program, because glibc's frame in between belongs to the shared unwinder.

#include <atomic>
#include <mutex>

namespace tuner {

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

}  // namespace tuner
