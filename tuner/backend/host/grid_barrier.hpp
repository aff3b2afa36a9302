#pragma once
/// Where the blocks of a cooperative launch meet, each of which runs on an operating-system thread of its own.

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tuner::host {

class GridBarrier {
 public:
  enum class Meeting {
    met,
    left_alone,  ///< a block has returned and will never come
    stopped,     ///< the launch is to be left
  };

  /// Before a launch of \p blocks, while nobody is in here.
  void begin(std::uint64_t blocks);
  /// Waits until all blocks are here; \p stop as in Kernel.
  Meeting meet(const int* stop);
  /// The calling block has returned.
  void leave();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t blocks_ = 0, waiting_ = 0, returned_ = 0;
  std::uint64_t meetings_ = 0;  // that are over
};

}  // namespace tuner::host
