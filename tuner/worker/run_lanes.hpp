#pragma once
/// The lanes of a session, a run worker for each device, and the queue from which they take their work. A lane sends
/// its worker jobs, watches its deadlines, and replaces it when a kernel ends it. A lane whose device can no longer be
/// used is given up, and the others continue. Lives in the session's event loop. Internal to the worker room.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tuner/core/values/elapsed.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner::worker {

/// One configuration to evaluate, or finalists to measure again.
struct RunJob {
  std::vector<Configuration> configurations;
  std::vector<std::shared_ptr<const Image>> images;  ///< one for each
  std::optional<double> finals_s;                    ///< finalists: Remeasure::seconds
  double compile_s = 0;
  double wait_s = 0;  ///< time for which the lane had nothing to run before it

  bool again = false;     ///< second try: its worker was stopped or killed from outside
  bool recalled = false;  ///< not needed any more, if it has not begun
  bool is_given_up() const { return recalled && finals_s; }  ///< its trials are not wanted either

  /// The lane whose device was lost while it ran. Another lane tries it again. If none does, this is its trial.
  std::optional<std::pair<int, Trial>> lost_with = {};

  // The rest is for finalists that are measured again.
  std::vector<Trial> known = {};            ///< their trials if no worker can do that
  std::vector<Configuration> checked = {};  ///< Remeasure::checked
  std::uint32_t placement = 0;              ///< Remeasure::placement
  bool in_new_process = false;              ///< a new worker runs them

  const Configuration& first() const { return configurations.front(); }
};

/// A worker failed because of the kernel's text or its reference. If workers of other devices succeed, the device was
/// the cause.
class PrepareError : public Error {
 public:
  using Error::Error;
};

/// The configurations that RunLanes::withdraw() takes.
enum class Taken { waiting, running_too };

/// Data that the lanes of a session share.
struct RunQueue {
  const IsolatedOptions& options;
  std::deque<RunJob> ready = {};  ///< compiled; the first lane with room takes the next
  /// The compiled reference; null for a kernel without one; nothing until it is known. Every new worker gets it first.
  std::optional<std::shared_ptr<const Image>> reference = {};
  double best_ns = 0;  ///< the fastest known so far, for jobs that are sent from now on; 0: none

  bool printed = false;  ///< the text that a kernel printed was shown
  bool hurried = false;  ///< Hurry was sent to all workers, and is sent to new ones
  std::optional<Clock::time_point> filling_since = {};
  bool warned_of_slow_fill = false;

  /// A worker begins to fill its inputs, or has begun another phase. Warns once if the first fill was slow.
  void fill_began_or_ended(bool began);
  void set_best(double ns) {
    if (ns > 0 && (best_ns <= 0 || ns < best_ns)) best_ns = ns;
  }
};

struct RunLaneEvents {
  std::function<void(const Device& device)> opened;  ///< by each new worker
  /// By each new worker: Runner::remarks(), and the time that it took to start.
  std::function<void(std::vector<std::string> remarks, double start_s)> prepared;
  /// Finalists come one by one after a worker was lost while it ran several of them.
  std::function<void(int lane, RunJob job, std::vector<Trial> trials)> finished;
  std::function<void(Configuration configuration)> withdrawn;  ///< recall() was in time
};

class RunLane {
 public:
  /// A worker holds at most so many configurations. The first is running. The second waits in the worker's pipe, so
  /// that the device need not wait for this process.
  static constexpr std::size_t kDepth = 2;

  /// \p number: of the lane, for the events. \p open: the first message to each worker. \p queue must outlive the lane.
  RunLane(int number, StartWorker start, Open open, RunLaneEvents events, RunQueue& queue);
  /// Starts the worker. Like react(), throws WorkerError when workers cannot be started or kept alive; react() throws
  /// PrepareError too.
  void start();

  /// Whether its worker waits for jobs or runs one.
  bool prepared() const { return state_ == State::prepared && slot_.running(); }

  /// Whether its worker waits for a job.
  bool idle() const { return prepared() && sent_.empty(); }

  /// Adds a job for this lane alone.
  void push_own(RunJob job) { own_.push_back(std::move(job)); }
  /// Recalls the jobs of \p configurations that wait in the worker's pipe, and calls report_suspect() if the suspect is
  /// one of them. With Taken::running_too, the running job ends after its launch. If it takes its worker down, only
  /// another recall() reports it early.
  void recall(std::span<const Configuration> configurations, Taken taken);
  /// Drops the finalists that wait, and ends those that run after their launch. Reports no trials of them.
  void give_up_finalists();
  void hurry();
  /// Sends jobs until the worker holds \p depth of them.
  void schedule(std::size_t depth);
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) { slot_.collect(fds, wake_up); }
  void react(const std::vector<pollfd>& fds);
  /// Kills the worker; stop() then waits for less.
  void kill() { slot_.end({}); }
  /// Kills the worker, and waits for its end.
  void stop() { slot_.stop(); }
  /// Kills the worker and starts no other. Jobs that had not begun go to the other lanes, as does the suspect, if no
  /// device was lost with it before. Jobs for this lane alone are dropped.
  void retire();
  /// Reports the trials of finalists that no worker will measure again.
  void report_known();
  /// Reports the trial that was running when the worker died, the suspect. Without this call, the trial waits until the
  /// next worker is prepared: if that worker cannot use the device, the device may be the cause.
  void report_suspect();

 private:
  enum class State { starting, open, preparing, prepared };
  void send(const RunJob& job);
  void handle(Message message);
  void ran(Ran answer);
  bool try_again(RunJob& job);
  void split_off_cause(RunJob& job, std::vector<Trial>& trials);
  void report_printed_text(const Configuration& configuration);
  void lost(const WorkerEnd& end);
  void send_recall(bool running);
  void take_back_sent();
  /// The queue in which \p job waits for a worker.
  std::deque<RunJob>& waiting(const RunJob& job) { return job.finals_s ? own_ : queue_.ready; }
  void fail(RunJob job, const WorkerEnd& end);
  void start_failed(const Failed& failed, bool reference = false);
  void expect_work();

  const int number_;
  const StartWorker start_;
  Open open_;
  RunLaneEvents events_;
  RunQueue& queue_;
  WorkerSlot slot_;
  State state_ = State::starting;
  std::deque<RunJob> own_;
  std::deque<RunJob> sent_;
  bool recalled_ = false;  // a Recall was sent to this worker
  std::optional<std::pair<RunJob, std::vector<Trial>>> suspect_;
  Phase phase_ = Phase::prepare;
  bool runs_kernel_ = false;  // in this phase
  Clock::time_point idle_since_;
  Clock::time_point started_;       // this worker
  double waited_s_ = 0;             // it, for the reference
  std::size_t start_failures_ = 0;  // since something was run
  std::size_t reference_failures_ = 0;
  std::string lost_on_own_;  // how the reference ended its worker on problems of tuner's choice
};

struct RunLanesEvents : RunLaneEvents {
  /// The lane is no longer used. Its report gives the reason. Jobs for it alone will not finish.
  std::function<void(int lane)> given_up;
};

class RunLanes {
 public:
  /// Makes a lane for each device of \p options and of its hosts. \p start_here: for workers of this host. \p open: the
  /// first message to each worker, without the device. \p carried: MeasureOptions::carried of other hosts. \p options
  /// must outlive the lanes.
  RunLanes(const IsolatedOptions& options, const StartWorker& start_here, const Open& open,
           const std::map<std::string, std::string>& carried, RunLanesEvents events);
  RunLanes(const RunLanes&) = delete;
  RunLanes& operator=(const RunLanes&) = delete;

  /// Like react(), throws WorkerError when no lane can be kept alive, and PrepareError when the kernel is the cause.
  void start();
  /// Sets RunQueue::reference.
  void set_reference(std::shared_ptr<const Image> image) { queue_.reference = std::move(image); }
  void set_best(double best_ns) { queue_.set_best(best_ns); }
  void push(RunJob job) { queue_.ready.push_back(std::move(job)); }
  /// Asks every prepared lane to run \p job, the finalists; if no lane is prepared, every lane in use.
  void start_finals(const RunJob& job);
  /// The lanes in use that run the finalists.
  std::vector<int> lanes_in_finals() const;
  void end_finals();
  /// Ends what start_finals() began. Reports no trials of it.
  void give_up_finalists();
  /// Evaluator::prefer(), for jobs that were not sent to a worker yet.
  void prefer(std::span<const Configuration> order);
  /// Evaluator::withdraw(). Returns the configurations that were taken out. Jobs in a worker's pipe are recalled.
  std::vector<Configuration> withdraw(std::span<const Configuration> configurations, Taken taken);
  /// Evaluator::hurry().
  void hurry();
  /// Sends jobs evenly: no worker gets a second job while another has none or is still starting.
  void schedule();
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  void react(const std::vector<pollfd>& fds);
  /// Reports the trials of all jobs that ran when devices were lost. No lane tries them again.
  void report_suspects();
  /// Kills the workers.
  void stop();

  int size() const { return static_cast<int>(lanes_.size()); }
  LaneReport& report(int lane) { return lanes_.at(static_cast<std::size_t>(lane)).report; }
  std::vector<LaneReport> reports() const;

 private:
  struct Entry {
    RunLane lane;
    LaneReport report = {};
    bool in_use = true;
    bool in_finals = false;
  };
  template <typename Work>
  void for_each(Work work);
  bool some_are_prepared() const;
  void give_up(Entry& entry, const std::string& reason);
  void report_lost(RunJob job);
  void report_given_up();

  RunLanesEvents events_;
  RunQueue queue_;
  std::deque<Entry> lanes_;
  // Lanes with a PrepareError. It is reported as theirs once another lane is prepared; until then the kernel may be the
  // cause.
  std::vector<int> at_fault_;
};

}  // namespace tuner::worker
