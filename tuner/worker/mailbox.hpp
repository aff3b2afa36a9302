#pragma once
/// All that an evaluator's two threads share: the caller's thread posts commands and waits for news, the event loop's
/// takes commands and tells news. Every function may be called by any thread. Internal to the worker room.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include <tuner/core/device.hpp>
#include <tuner/core/evaluator.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::worker {

class Mailbox {
 public:
  /// Throws WorkerError when there is no event descriptor to be had.
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // To the loop.
  void post(std::function<void()> command);
  void stop();

  // In the loop.
  enum class State { running, failed, stopping };
  State state() const;
  /// Readable while something was posted since clear_wake().
  int wake_fd() const { return wake_fd_; }
  void clear_wake();
  std::vector<std::function<void()>> take_commands();

  // From the loop.
  void tell(Event event);
  void tell_device(const Device& device);
  void tell_finalists(std::vector<Trial> trials);
  /// The first failure stays, and is what the waiting functions throw from then on.
  void fail(std::exception_ptr error);
  void publish(const SessionTimes& times);

  // To the caller. The first three wait; they throw the failure when what they wait for was not told before it.
  /// Nothing when \p patience passed first.
  std::optional<Event> next(std::chrono::duration<double> patience);
  /// The reference stays good: the device is told once.
  const Device& device();
  /// Waits for tell_finalists() after \p start was posted.
  std::vector<Trial> finalists(std::function<void()> start);
  SessionTimes times() const;

 private:
  void wake() const;
  void rethrow_failure() const;  // with the lock held

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> commands_;
  std::deque<Event> news_;
  std::optional<std::vector<Trial>> finalists_;
  std::optional<Device> device_;
  std::exception_ptr failure_;
  SessionTimes times_;
  bool stopping_ = false;
  int wake_fd_ = -1;
};

}  // namespace tuner::worker
