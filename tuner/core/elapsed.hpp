#pragma once
/// Wall time since a moment, in the one unit that budgets and limits are given in.

#include <chrono>

namespace tuner {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace tuner
