#pragma once
/// Counts the launches of a plan without a measured result, and times the first few.

#include <atomic>
#include <cstdint>
#include <memory>

#include <tuner/backend/backend.hpp>

namespace tuner::runtime {

/// The counts of one problem in this process, for any number of plans and threads.
struct alignas(64) Miss {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<double> each_ns{0};  ///< the shortest launch that was timed; 0: none
};

class MissCounter {
 public:
  /// \p miss must live as long as the process. The backend's context must be current. Never fails.
  MissCounter(Miss& miss, Backend& backend);

  /// Counts a launch. Returns whether it should be timed, if it is not captured and begin() agrees.
  bool count() {
    const std::uint64_t before = miss_.calls.fetch_add(1, std::memory_order_relaxed);
    return (before & (before + 1)) == 0;  // the first, second, fourth, …
  }
  /// Whether the next launch on \p stream is timed; end() must then follow it. The caller must hold a BesideCaptures.
  bool begin(void* stream);
  void end(void* stream);

 private:
  static constexpr int kTimings = 3;

  void read();

  Miss& miss_;
  std::atomic<bool> busy_{false};  // one thread is timing; only it uses the members below
  std::unique_ptr<Stopwatch> watch_;
  bool unread_ = false;
  int timings_ = 0;
};

}  // namespace tuner::runtime
