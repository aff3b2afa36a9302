#pragma once
/// Counts the launches of a plan that no result stands behind, and times a few of the first.

#include <atomic>
#include <cstdint>
#include <memory>

#include <tuner/backend/backend.hpp>

namespace tuner::runtime {

/// What is counted of one problem in this process, by any number of plans and threads.
struct alignas(64) Miss {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<double> each_ns{0};  ///< the shortest launch that was timed; 0: none
};

class MissCounter {
 public:
  /// \p miss lives as long as the process. The backend's context is current. Never fails.
  MissCounter(Miss& miss, Backend& backend);

  /// Counts a launch. Whether it is one to be timed, if begin() says so too and it is not captured.
  bool count() {
    const std::uint64_t before = miss_.calls.fetch_add(1, std::memory_order_relaxed);
    return (before & (before + 1)) == 0;  // the first, second, fourth, …
  }
  /// Whether the launch that follows on \p stream is timed: end() comes behind it then. Another thread's capture must
  /// not forbid this one anything (BesideCaptures).
  bool begin(void* stream);
  void end(void* stream);

 private:
  static constexpr int kTimings = 3;

  void read();

  Miss& miss_;
  std::atomic<bool> busy_{false};  // a thread times; it alone uses what follows
  std::unique_ptr<Stopwatch> watch_;
  bool unread_ = false;
  int timings_ = 0;
};

}  // namespace tuner::runtime
