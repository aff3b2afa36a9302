#pragma once
/// Ctrl-C: the first one (or a SIGTERM) asks the session to end after the trials in flight. The second ends the process
/// at once.

#include <atomic>

namespace tuner::cli {

/// Exit code after an interruption, as shells use it for SIGINT.
inline constexpr int kInterrupted = 130;

/// Handles SIGINT, SIGTERM and SIGHUP from now on. Signals that are ignored (nohup, `trap ''`) stay ignored. Returns a
/// flag for SessionOptions::stop, which is true once interrupted.
const std::atomic<bool>& catch_interrupts();

}  // namespace tuner::cli
