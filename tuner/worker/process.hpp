#pragma once
/// A worker process of this machine. The thread that started it must live as long as the process, because
/// PR_SET_PDEATHSIG follows the thread.

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner::worker {

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

/// Starts workers of this machine. \p options must outlive it.
inline StartWorker start_here(const IsolatedOptions& options) {
  return [&options] { return std::make_unique<WorkerProcess>(options.program, !options.grace); };
}

}  // namespace tuner::worker
