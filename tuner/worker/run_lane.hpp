#pragma once
/// A device's run worker with what it is to run: feeds it, watches its deadlines, replaces it when a kernel takes it
/// down. Lives in the session's event loop. Internal to the worker room.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
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
  /// A device was lost with it, on this lane: another tries it. Its trial, if none does.
  std::optional<std::pair<int, Trial>> lost_with = {};

  const Configuration& first() const { return configurations.front(); }
};

/// A worker found the kernel's text or its reference at fault; where workers of other devices do not, it was its
/// device.
class PrepareError : public Error {
 public:
  using Error::Error;
};

/// What the lanes of a session have in common.
struct RunQueue {
  std::deque<RunJob> ready;  ///< compiled, for whichever lane has room first
  /// The compiled reference, or null where there is none; nothing until that is known. Every new worker gets it first.
  std::optional<std::shared_ptr<const Image>> reference;
  double best_ns = 0;    ///< the fastest known so far, for jobs that are still to be sent; 0: none
  bool printed = false;  ///< a kernel did, and it was shown

  void set_best(double ns) {
    if (ns > 0 && (best_ns <= 0 || ns < best_ns)) best_ns = ns;
  }
};

struct RunLaneEvents {
  std::function<void(const Device& device)> opened;  ///< by each new worker
  /// Several finalists come one by one when a worker was lost over them together.
  std::function<void(int lane, RunJob job, std::vector<Trial> trials)> finished;
  std::function<void(Configuration configuration)> withdrawn;  ///< withdraw() was in time after all
};

class RunLane {
 public:
  /// Configurations that a worker holds at most. The first is running, the second waits in the worker's pipe: so that
  /// the device need not wait for ours.
  static constexpr std::size_t kDepth = 2;

  /// \p number: of the lane, for the events. \p open: the first message to each worker. \p times: counts its start and
  /// restarts there. It, \p queue and \p options must outlive the lane.
  RunLane(int number, const IsolatedOptions& options, StartWorker start, Open open, RunLaneEvents events,
          RunQueue& queue, SessionTimes& times);
  /// Starts the worker. Like react(), throws WorkerError when workers cannot be started or kept alive; react() throws
  /// PrepareError too.
  void start();

  /// Its worker waits for jobs, or runs one.
  bool prepared() const { return state_ == State::prepared && slot_.running(); }

  /// For this lane alone.
  void push_own(RunJob job) { own_.push_back(std::move(job)); }
  /// Calls back what waits in the worker's pipe, and tells of what waits for another worker, if it is of
  /// \p configurations. Of what runs nothing is called back: should it crash, only another recall() tells of it early.
  void recall(std::span<const Configuration> configurations);
  /// Sends jobs until the worker holds \p depth of them.
  void schedule(std::size_t depth);
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) { slot_.collect(fds, wake_up); }
  void react(const std::vector<pollfd>& fds);
  /// Kills the worker; stop() then waits for less.
  void kill() { slot_.end({}); }
  /// Kills the worker, and waits for its end.
  void stop() { slot_.stop(); }
  /// Kills the worker for good: what it had not begun, and what its device was lost with for the first time, goes to
  /// the others; what was for it alone is dropped.
  void retire();
  /// Tells of the trial that a worker was lost with, which waits for the next worker otherwise: where that one cannot
  /// use the device, it may be the device that is to blame.
  void tell_suspect();

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
  /// Where \p job waits for a worker.
  std::deque<RunJob>& waiting(const RunJob& job) { return job.finals_s ? own_ : queue_.ready; }
  void fail(RunJob job, const Loss& loss);
  void start_failed(const std::string& message, bool reference);
  void expect_work();

  const int number_;
  const IsolatedOptions& options_;
  const StartWorker start_;
  const Open open_;
  RunLaneEvents events_;
  RunQueue& queue_;
  SessionTimes& times_;
  WorkerSlot slot_;
  State state_ = State::starting;
  std::deque<RunJob> own_;
  std::deque<RunJob> sent_;
  std::optional<std::pair<RunJob, std::vector<Trial>>> suspect_;
  Phase phase_ = Phase::prepare;
  Clock::time_point started_, idle_since_;
  double wait_before_first_ = 0;
  std::size_t start_failures_ = 0;  // since something was run
  std::size_t reference_failures_ = 0;
};

}  // namespace tuner::worker
