#pragma once
/// The run worker of a session with the jobs that wait for it: feeds it, watches its deadlines, replaces it when a
/// kernel takes it down. Lives in the session's event loop. Internal to the worker room.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/worker_slot.hpp>

namespace tuner::worker {

/// One configuration to evaluate, or finalists to measure again.
struct RunJob {
  std::vector<Configuration> configurations;
  std::vector<std::shared_ptr<const Image>> images;  ///< one for each
  std::optional<double> finals_s;                    ///< finalists: Remeasure::seconds
  double compile_s = 0;
  bool again = false;     ///< its worker was stopped or killed from outside: this is its second try
  bool recalled = false;  ///< nobody wants it any more, if it has not begun
};

struct RunLaneEvents {
  std::function<void(const Device& device)> opened;  ///< by each new worker
  /// Several finalists come one by one when a worker was lost over them together.
  std::function<void(RunJob job, std::vector<Trial> trials)> finished;
  std::function<void(Configuration configuration)> withdrawn;  ///< withdraw() was in time after all
};

class RunLane {
 public:
  /// \p open: the first message to each worker. \p times: counts its start and restarts there. It and
  /// \p options must outlive the lane.
  RunLane(const IsolatedOptions& options, Open open, RunLaneEvents events, SessionTimes& times);
  /// Starts the worker. Like react(), throws WorkerError when workers cannot be started or kept alive; react() throws
  /// Error when the kernel's reference or text is at fault.
  void start();

  /// The compiled reference, or null where there is none. Every new worker gets it first.
  void set_reference(std::shared_ptr<const Image> image) { reference_ = std::move(image); }
  void push(RunJob job) { ready_.push_back(std::move(job)); }
  /// Evaluator::prefer(), of what was not sent to the worker yet.
  void prefer(std::span<const Configuration> order);
  /// Evaluator::withdraw(): the configurations that were taken out. What waits in the worker's pipe is recalled.
  std::vector<Configuration> withdraw(std::span<const Configuration> configurations);
  /// The fastest known so far (0: none), for jobs that are still to be sent; kept where it is smaller than before.
  void set_best(double best_ns) {
    if (best_ns > 0 && (best_ns_ <= 0 || best_ns < best_ns_)) best_ns_ = best_ns;
  }
  void schedule();
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) { slot_.collect(fds, wake_up); }
  void react(const std::vector<pollfd>& fds);
  /// Kills the worker.
  void stop() { slot_.stop(); }

 private:
  enum class State { starting, open, preparing, prepared };
  void start_worker();
  void send(const RunJob& job);
  void handle(Message message);
  void ran(Ran answer);
  bool try_again(RunJob& job);
  void tell_what_was_printed(const Configuration& configuration);
  void lost(const Loss& loss);
  void take_back_sent();
  void fail(RunJob job, const Loss& loss);
  void start_failed(const std::string& message, bool reference);
  void expect_work();

  const IsolatedOptions& options_;
  const Open open_;
  RunLaneEvents events_;
  SessionTimes& times_;
  WorkerSlot slot_;
  State state_ = State::starting;
  std::optional<std::shared_ptr<const Image>> reference_;
  std::deque<RunJob> ready_;
  /// The first is running, the second waits in the worker's pipe: so that the device need not wait for ours.
  std::deque<RunJob> sent_;
  double best_ns_ = 0;
  bool printed_ = false;  // a kernel did, and it was shown
  Phase phase_ = Phase::prepare;
  Clock::time_point started_, idle_since_;
  double wait_before_first_ = 0;
  std::size_t start_failures_ = 0;  // since something was run
};

}  // namespace tuner::worker
