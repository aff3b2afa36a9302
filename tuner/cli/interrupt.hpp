#pragma once
/// Ctrl-C: the first one (or a SIGTERM) asks the session to end after the trials in flight. The second ends the process
/// at once.

#include <array>
#include <atomic>
#include <csignal>

namespace tuner::cli {

/// Exit code after an interruption, as shells use it for SIGINT.
inline constexpr int kInterrupted = 130;

/// Handles SIGINT, SIGTERM and SIGHUP for its lifetime. Signals that are ignored (nohup, `trap ''`) stay ignored. One
/// object at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// True once interrupted; for SessionOptions::stop.
  const std::atomic<bool>& flag() const;

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace tuner::cli
