#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tuner::host {

/// The barrier of the blocks of a cooperative launch. Each block runs on its own operating-system thread.
class GridBarrier {
 public:
  enum class Meeting {
    met,
    left_alone,  ///< a block has returned without coming here
    stopped,     ///< the launch must end
  };

  /// Call this before a launch of \p blocks, while no thread waits here.
  void begin(std::uint64_t blocks);
  /// Waits until all blocks are here; \p stop as in Kernel.
  Meeting meet(const int* stop);
  /// The calling block has returned.
  void leave();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t blocks_ = 0, waiting_ = 0, returned_ = 0;
  std::uint64_t meetings_ = 0;  // number of those that have ended
};

}  // namespace tuner::host
