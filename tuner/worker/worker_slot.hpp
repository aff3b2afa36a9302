#pragma once
/// A worker in the session's event loop: its descriptors in poll(), its deadline, and how it was lost. Used by
/// the compile pool and the run lanes. Internal to the worker room.

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/elapsed.hpp>
#include <tuner/worker/link.hpp>

namespace tuner::worker {

constexpr double kOpenSeconds = 60;            ///< for opening the device, allocating and running the reference
constexpr std::size_t kMostStartFailures = 3;  ///< in a row; after them WorkerError

/// Whether no other worker could do what \p failed did not. Without a compiler here, no worker has one.
inline bool is_last_start(const Failed& failed) { return failed.final || failed.code == ErrorCode::compiler; }

/// How a worker was lost.
struct Loss {
  bool hung = false;      ///< killed at its deadline
  bool innocent = false;  ///< stopped or killed from outside, not by the work that it did
  std::string message;    ///< "killed by signal 11 (Segmentation fault)", "did not answer for 3.0 s"
};

class WorkerSlot {
 public:
  void start(const StartWorker& start) {
    stop();
    worker_ = start();
    ++generation_;
  }
  /// Whether there is a worker that takes messages.
  bool running() const { return worker_ != nullptr && !loss_; }
  /// Kills the worker and waits for its end.
  void stop() {
    worker_.reset();
    deadline_.reset();
    first_fd_.reset();
    loss_.reset();
  }
  /// Kills the worker and does not wait. react() returns \p loss once it has ended.
  void end(Loss loss);
  void quit() {
    if (worker_) worker_->send(Quit{});
  }
  /// WorkerLink::was_stopped().
  bool was_stopped() { return worker_ && worker_->was_stopped(); }

  void send(const Message& message) { worker_->send(message); }
  std::string take_said() { return worker_ ? worker_->take_said() : std::string(); }
  /// The worker must answer or report within \p seconds.
  void expect_within(double seconds) {
    if (!worker_->can_be_killed()) return;
    limit_s_ = seconds;
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  void expect_nothing() { deadline_.reset(); }

  /// Adds its descriptors; react() is called with the same vector after poll().
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  /// Reads and writes without waiting, and calls \p handle for each message. Returns how the worker was lost, once it
  /// has ended; a process whose kernel hangs may take seconds to end. \p handle may throw ProtocolError, which counts
  /// as a loss.
  std::optional<Loss> react(const std::vector<pollfd>& fds, const std::function<void(Message)>& handle);

 private:
  std::optional<Loss> take_loss();

  std::unique_ptr<WorkerLink> worker_;
  std::optional<Clock::time_point> deadline_;
  double limit_s_ = 0;
  std::optional<std::size_t> first_fd_;
  std::optional<Loss> loss_;      // while the lost worker has not ended
  bool by_itself_ = false;        // loss_ is filled in from its end
  std::uint64_t generation_ = 0;  // number of the worker; changes when a message leads to its replacement
};

}  // namespace tuner::worker
