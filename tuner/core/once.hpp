#pragma once
/// Like std::call_once, for work that may throw. An exception cannot pass through std::call_once in a program that
/// was linked with -static-libgcc: glibc's frame in between belongs to the shared unwinder, and the program aborts.

#include <atomic>
#include <mutex>

namespace tuner {

class Once {
 public:
  /// Runs \p work unless it has run to its end before; waits for another thread that runs it now.
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
