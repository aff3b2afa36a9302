#pragma once
/// For tests with several threads.

#include <thread>
#include <vector>

namespace tuner::testing {

/// Calls \p work with 0 … \p count - 1, each on its own thread, and waits for all.
template <typename Number>
void in_threads(Number count, const auto& work) {
  std::vector<std::thread> threads;
  for (Number i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tuner::testing
