#pragma once
/// The compile workers of a session: takes configurations, gives their images. Batches, splits batches that fail,
/// replaces workers whose compiler crashed or hung. Lives in the session's event loop. Internal to the worker room.

#include <cstddef>
#include <deque>
#include <filesystem>
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

struct CompilePoolOptions {
  std::filesystem::path program;
  std::string backend;
  std::size_t workers = 1;
  std::size_t batch = 1;
  bool warm_up = false;
  double compile_timeout_s = 60;
  double open_timeout_s = 60;
  std::size_t max_start_failures = 3;
};

/// What the pool tells its session.
struct CompilePoolEvents {
  std::function<void(const std::string& identity)> opened;  ///< for each worker
  std::function<void(CompileJob job, CompiledImage result)> compiled;
  std::function<void(std::string message)> failed;  ///< workers cannot be kept alive
};

class CompilePool {
 public:
  /// \p times: counts its work there; must outlive it.
  CompilePool(CompilePoolOptions options, CompilePoolEvents events, SessionTimes& times);
  /// Starts all workers. Throws WorkerError.
  void start();

  void push(CompileJob job) { queue_.push(std::move(job)); }
  /// Forgets what waits of \p configurations.
  void withdraw(std::span<const Configuration> configurations) { queue_.withdraw(configurations); }
  /// Before all others, in a compile of its own.
  void push_first(CompileJob job) { urgent_.push_back(std::move(job)); }
  /// Gives waiting jobs to idle workers.
  void schedule();
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  void react(const std::vector<pollfd>& fds);
  /// Asks all workers to end; afterwards only drain() and any_running() may be called.
  void quit();
  /// Lets go of workers that have ended.
  void drain(const std::vector<pollfd>& fds);
  bool any_running() const;

 private:
  struct Worker {
    WorkerSlot slot;
    bool open = false;
    std::vector<CompileJob> jobs;  // being compiled
    Clock::time_point since;
  };
  void start(Worker& worker);
  void handle(Worker& worker, Message message);
  void finish(Worker& worker, std::variant<Image, CompileError> result, double seconds);
  void lost(Worker& worker, const Loss& loss);
  void start_failed(Worker& worker, const std::string& message, bool final);

  CompilePoolOptions options_;
  CompilePoolEvents events_;
  SessionTimes& times_;
  std::deque<Worker> workers_;
  CompileQueue queue_;
  std::deque<CompileJob> urgent_;
  std::uint64_t next_id_ = 0;
  std::size_t start_failures_ = 0;
};

}  // namespace tuner::worker
