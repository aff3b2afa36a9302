#pragma once
/// The run worker of a session with the configurations that wait for it: feeds it, watches its deadlines, replaces it
/// when a kernel takes it down. Lives in the session's event loop. Internal to the worker room.

#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/worker_slot.hpp>

namespace tuner::worker {

struct RunLaneOptions {
  std::filesystem::path program;
  Open open;
  double open_timeout_s = 60;
  double grace_s = 1;
  std::size_t max_start_failures = 3;
};

struct RunJob {
  Configuration configuration;
  std::shared_ptr<const Image> image;
  double compile_s = 0;
  bool again = false;  ///< its worker was stopped or killed from outside: this is its second try
};

struct FinalistJob {
  Configuration configuration;
  std::shared_ptr<const Image> image;
};

struct RunLaneEvents {
  std::function<void(const Device& device, const std::string& architecture)> opened;  ///< by each new worker
  std::function<void(RunJob job, Trial trial)> finished;
  std::function<void(std::vector<Trial> trials)> remeasured;
  /// \p reference: the kernel's reference or text is at fault, not the workers.
  std::function<void(std::string message, bool reference)> failed;
};

class RunLane {
 public:
  /// \p times: counts its waiting, starts and restarts there; must outlive it.
  RunLane(RunLaneOptions options, RunLaneEvents events, SessionTimes& times);
  /// Starts the worker. Throws WorkerError.
  void start();

  /// The compiled reference, or null where there is none. Every new worker gets it first.
  void set_reference(std::shared_ptr<const Image> image);
  void push(RunJob job) { ready_.push_back(std::move(job)); }
  /// Evaluator::prefer(), of what was not sent to the worker yet.
  void prefer(std::span<const Configuration> order);
  /// Evaluator::withdraw(): the configurations that were taken out.
  std::vector<Configuration> withdraw(std::span<const Configuration> configurations);
  /// The fastest known so far (0: none), for jobs that are still to be sent; kept where it is smaller than before.
  void set_best(double best_ns) {
    if (best_ns > 0 && (best_ns_ <= 0 || best_ns < best_ns_)) best_ns_ = best_ns;
  }
  void remeasure(std::vector<FinalistJob> finalists, double seconds);
  void schedule();
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  void react(const std::vector<pollfd>& fds);
  void quit() { slot_.quit(); }

 private:
  enum class State { starting, open, preparing, prepared };
  void start_worker();
  void handle(Message message);
  void evaluated(Evaluated answer);
  bool try_again(RunJob& job);
  void tell_what_was_printed(const Configuration& configuration);
  void remeasured(Remeasured answer);
  void lost(const Loss& loss);
  void start_failed(const std::string& message, bool reference);
  void expect_work();
  void send_finalists();

  RunLaneOptions options_;
  RunLaneEvents events_;
  SessionTimes& times_;
  WorkerSlot slot_;
  State state_ = State::starting;
  std::optional<std::shared_ptr<const Image>> reference_;
  std::deque<RunJob> ready_;
  /// The first is running, the second waits in the worker's pipe: so that the device need not wait for ours.
  std::deque<RunJob> sent_;
  double best_ns_ = 0;
  std::uint64_t next_id_ = 0;

  // Finalists that are being measured again: all at once, or one after the other once a worker was lost over them.
  std::vector<FinalistJob> finalists_;
  std::vector<Trial> finalist_trials_;
  double finalist_s_ = 0;
  bool one_by_one_ = false;
  bool finalists_sent_ = false;

  bool printed_ = false;  // a kernel did, and it was shown

  Phase phase_ = Phase::prepare;
  Clock::time_point started_, idle_since_;
  double wait_before_first_ = 0;
  std::size_t start_failures_ = 0;  // since something was run
};

}  // namespace tuner::worker
