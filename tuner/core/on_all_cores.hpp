#pragma once
/// Does the same with many things, side by side.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

#include <tuner/core/without_signals.hpp>

namespace tuner {

/// Calls \p work with each index below \p count, in this thread and in one for each other core. After an exception it
/// begins no further call, and throws it when the others have ended.
template <typename Work>
void on_all_cores(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto some = [&] {
    try {
      for (std::size_t i; (i = next++) < count;) work(i);
    } catch (...) {
      next = count;
      throw;
    }
  };
  std::vector<std::future<void>> others;
  {
    const WithoutSignals calm;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < std::min(count, cores); ++i) others.push_back(std::async(some));
  }
  some();
  for (std::future<void>& one : others) one.get();
}

}  // namespace tuner
