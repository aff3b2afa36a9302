#pragma once
/// Elapsed wall time in seconds, the unit of all budgets and limits.

#include <chrono>

namespace tuner {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace tuner
