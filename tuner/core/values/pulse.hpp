#pragma once
/// The time in which the machine let a process run. All limits after which a kernel or a worker counts as hanging are
/// limits of this time. A process may be paused by a container, a batch system or a suspended laptop, or may get too
/// little of a busy machine. That time does not count.

#include <algorithm>
#include <chrono>
#include <ctime>

#include <tuner/core/values/elapsed.hpp>

namespace tuner {

/// Counts such time for who asks again and again. Pure: callers pass the clocks.
class Pulse {
 public:
  /// Longer steps between two questions count as one of this length: meanwhile the asking process did not run.
  static constexpr std::chrono::milliseconds kLongestStep{500};
  /// A process that computes for less than this part of a step waits for something else: a device, another process.
  static constexpr double kWaits = 0.05;

  explicit Pulse(Clock::time_point now, double processor_s = 0) : last_(now), last_processor_s_(processor_s) {}

  /// Returns the seconds that count since the last call.
  double beat(Clock::time_point now) {
    const Clock::duration step = std::clamp<Clock::duration>(now - last_, Clock::duration{0}, kLongestStep);
    last_ = now;
    return std::chrono::duration<double>(step).count();
  }
  /// The same for a process that wants to compute all the time, whose threads have computed for \p processor_s in all.
  /// If the machine gave it a part of the time only, this part counts.
  double beat(Clock::time_point now, double processor_s) {
    const double passed = std::chrono::duration<double>(now - last_).count();
    const double computed = processor_s - last_processor_s_;
    last_processor_s_ = processor_s;
    const double part = passed > 0 && computed >= kWaits * passed ? std::min(computed / passed, 1.0) : 1.0;
    return part * beat(now);
  }

 private:
  Clock::time_point last_;
  double last_processor_s_ = 0;
};

/// The seconds for which all threads of this process have computed.
inline double processor_seconds() {
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace tuner
