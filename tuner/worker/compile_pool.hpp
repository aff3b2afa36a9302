#pragma once
/// The compile workers of a session: takes configurations, gives their images. Batches, splits batches that fail,
/// replaces workers whose compiler crashed or hung, does without those of a host that cannot start them. Lives in the
/// session's event loop. Internal to the worker room.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <tuner/measure/compile_queue.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/worker_slot.hpp>

namespace tuner::worker {

using CompiledImage = std::variant<std::shared_ptr<const Image>, CompileError>;

/// What the pool tells its session.
struct CompilePoolEvents {
  std::function<void(const std::string& identity)> opened;  ///< for each worker
  std::function<void(CompileJob job, CompiledImage result)> compiled;
};

class CompilePool {
 public:
  /// \p options: complete. \p times: counts its work there. Both must outlive it.
  CompilePool(const IsolatedOptions& options, CompilePoolEvents events, SessionTimes& times);
  /// Starts all workers. Like react(), throws WorkerError when none of any host can be started or kept alive.
  void start();

  /// For the next compile, or the running one that makes it anyway.
  void push(CompileJob job);
  /// Forgets what waits of \p configurations.
  void withdraw(std::span<const Configuration> configurations) { queue_.withdraw(configurations); }
  /// Before all others, together with nothing but what has the same program.
  void push_first(CompileJob job) { urgent_.push_front(std::move(job)); }
  /// Gives waiting jobs to idle workers.
  void schedule();
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  void react(const std::vector<pollfd>& fds);
  /// Ends all workers. Idle compilers may clean up behind themselves (temporary files); those that take long are
  /// killed.
  void stop();

 private:
  struct Host {
    std::string name;  // empty: this one
    StartWorker begin;
    std::size_t start_failures = 0;  // in a row
    bool in_use = true;
  };
  struct Worker {
    Host* host = nullptr;
    WorkerSlot slot;
    bool open = false;
    std::vector<CompileJob> jobs;  // being compiled
    Clock::time_point since;
    bool is_idle() const { return slot.running() && open && jobs.empty(); }
  };
  std::size_t sharing() const;
  void start(Worker& worker);
  void handle(Worker& worker, Message message);
  void finish(Worker& worker, std::variant<Image, CompileError> result, double seconds);
  void lost(Worker& worker, const Loss& loss);
  bool try_again(std::vector<CompileJob>& jobs);
  void start_failed(Worker& worker, const std::string& message, bool final);
  void give_up(Host& host, const std::string& reason);

  const IsolatedOptions& options_;
  CompilePoolEvents events_;
  SessionTimes& times_;
  std::deque<Host> hosts_;
  std::deque<Worker> workers_;
  std::string compiler_;  // of the first that opened
  CompileQueue queue_;
  std::deque<CompileJob> urgent_;
};

}  // namespace tuner::worker
