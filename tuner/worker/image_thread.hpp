#pragma once
/// Talks to the image store off the session's event loop: a slow disk must not keep the device waiting. Internal to
/// the worker room.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tuner::worker {

/// Runs tasks one after the other on a thread of its own; finishes what was queued before it is destroyed.
class ImageThread {
 public:
  ImageThread() : thread_([this] { work(); }) {}
  ~ImageThread() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    there_.notify_one();
    thread_.join();
  }
  ImageThread(const ImageThread&) = delete;
  ImageThread& operator=(const ImageThread&) = delete;

  /// \p first: before everything that waits (someone waits for the answer).
  void post(std::function<void()> task, bool first) {
    {
      const std::lock_guard lock(mutex_);
      if (first)
        urgent_.push_back(std::move(task));
      else
        tasks_.push_back(std::move(task));
    }
    there_.notify_one();
  }

 private:
  void work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        there_.wait(lock, [this] { return stopping_ || !tasks_.empty() || !urgent_.empty(); });
        std::deque<std::function<void()>>& from = urgent_.empty() ? tasks_ : urgent_;
        if (from.empty()) return;
        task = std::move(from.front());
        from.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable there_;
  std::deque<std::function<void()>> tasks_, urgent_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tuner::worker
