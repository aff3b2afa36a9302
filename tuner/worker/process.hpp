#pragma once
/// The workers of this machine: processes, or threads of this process.

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner::worker {

/// The thread that started it must live as long as the process, because PR_SET_PDEATHSIG follows the thread.
class WorkerProcess final : public WorkerLink {
 public:
  /// Starts \p program; throws WorkerError if that fails. If \p waits, the destructor waits for the program's end.
  explicit WorkerProcess(const std::filesystem::path& program, bool waits = true);
  /// Kills the program if it still runs. Without `waits`, another thread reaps it.
  ~WorkerProcess() override;

  pid_t pid() const { return pid_; }
  void kill() override;
  bool was_stopped() override;

 private:
  std::optional<WorkerEnd> ask_end() override;

  const bool waits_;
  pid_t pid_ = -1;
  bool reaped_ = false;
};

/// Ends after its current step when it is killed.
class WorkerThread final : public WorkerLink {
 public:
  /// \p spec and \p backend must outlive it.
  WorkerThread(const KernelSpec& spec, Backend& backend);
  ~WorkerThread() override;

  void kill() override;
  bool can_be_killed() const override { return false; }
  bool was_stopped() override { return false; }

 private:
  std::optional<WorkerEnd> ask_end() override;

  std::atomic<bool> stop_ = false, has_ended_ = false;
  std::thread thread_;
};

/// Starts workers of this machine. \p options and \p spec must outlive it.
StartWorker start_here(const IsolatedOptions& options, const KernelSpec& spec);

}  // namespace tuner::worker
