#pragma once
/// Talks to the image store outside of the session's event loop: a slow disk must not keep the device waiting. Internal
/// to the worker room.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tuner::worker {

/// Runs tasks one after the other on its own thread. The destructor waits until all queued tasks have run.
class ImageThread {
 public:
  ImageThread() : thread_([this](const std::stop_token& stopping) { work(stopping); }) {}

  /// \p first: run it before all tasks that wait, because someone waits for its answer.
  void post(std::function<void()> task, bool first) {
    {
      const std::lock_guard lock(mutex_);
      (first ? urgent_ : tasks_).push_back(std::move(task));
    }
    there_.notify_one();
  }

 private:
  void work(const std::stop_token& stopping) {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        there_.wait(lock, stopping, [this] { return !tasks_.empty() || !urgent_.empty(); });
        std::deque<std::function<void()>>& from = urgent_.empty() ? tasks_ : urgent_;
        if (from.empty()) return;
        task = std::move(from.front());
        from.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any there_;
  std::deque<std::function<void()>> tasks_, urgent_;
  std::jthread thread_;  // last, so that it ends before the members that it uses are destroyed
};

}  // namespace tuner::worker
