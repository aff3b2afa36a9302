#pragma once
/// For tests that wait for another process or thread. Nothing else in a test sleeps.

#include <chrono>
#include <thread>

namespace tuner::testing {

/// How long a test waits for what must happen, however busy the machine is. Only a test that fails takes so long.
constexpr std::chrono::minutes kLongestWait{20};

/// Asks \p holds until it is true, and says so; false after \p limit.
template <typename Condition>
bool wait_until(const Condition& holds, std::chrono::milliseconds limit = kLongestWait) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace tuner::testing
