#pragma once
/// The compile workers of a session: takes configurations and returns their images. Compiles in batches, splits batches
/// that fail, and replaces workers whose compiler crashed or hung. A host that cannot start workers is no longer used.
/// Lives in the session's event loop. Internal to the worker room.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <tuner/measure/compile_queue.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner::worker {

using CompiledImage = std::variant<std::shared_ptr<const Image>, CompileError>;

/// Called by the pool to inform its session.
struct CompilePoolEvents {
  std::function<void(const std::string& identity)> opened;  ///< for each worker
  std::function<void(CompileJob job, CompiledImage result)> compiled;
};

class CompilePool {
 public:
  /// \p options: complete; must outlive the pool. \p start_here: for workers of this host.
  CompilePool(const IsolatedOptions& options, const StartWorker& start_here, CompilePoolEvents events);
  /// Starts all workers. Like react(), throws WorkerError when no host can start workers or keep them alive.
  void start();

  /// Adds \p job to the next compile, or to a running one that makes its image anyway.
  void push(CompileJob job);
  /// Forgets the waiting jobs of \p configurations.
  void withdraw(std::span<const Configuration> configurations) { queue_.withdraw(configurations); }
  /// Adds \p job before all others. It shares its compile only with jobs of the same program.
  void push_first(CompileJob job) { urgent_.push_front(std::move(job)); }
  /// Gives waiting jobs to idle workers.
  void schedule();
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  void react(const std::vector<pollfd>& fds);
  /// Ends all workers. Idle compilers may remove their temporary files first; those that take long are killed.
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
  void finish(Worker& worker, CompileResult result, double seconds);
  void lost(Worker& worker, const WorkerEnd& end);
  bool try_again(std::vector<CompileJob>& jobs);
  void start_failed(Worker& worker, const Failed& failed);
  void give_up(Host& host, ErrorCode code, const std::string& reason);

  const IsolatedOptions& options_;
  CompilePoolEvents events_;
  std::deque<Host> hosts_;
  std::deque<Worker> workers_;
  std::string compiler_;  // of the first that opened
  CompileQueue queue_;
  std::deque<CompileJob> urgent_;
};

}  // namespace tuner::worker
