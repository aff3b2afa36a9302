#pragma once
/// The right to tune a problem on first use: one at a time for each device.

#include <condition_variable>
#include <mutex>
#include <string>

namespace tuner::runtime {

class FirstUse {
 public:
  /// What those on one device share.
  struct Device {
    std::mutex mutex;
    std::condition_variable over;
    std::string tuned;  ///< the problem; empty: none
  };
  enum class Turn {
    mine,   ///< this thread tunes
    over,   ///< another thread has just tuned this problem; it was waited for
    later,  ///< the device is busy with another problem
  };

  FirstUse(Device& device, const std::string& problem) : device_(device) {
    std::unique_lock lock(device_.mutex);
    if (device_.tuned.empty()) {
      device_.tuned = problem;
      turn_ = Turn::mine;
    } else if (device_.tuned == problem) {
      device_.over.wait(lock, [&] { return device_.tuned != problem; });
      turn_ = Turn::over;
    }
  }
  ~FirstUse() {
    if (turn_ != Turn::mine) return;
    const std::lock_guard lock(device_.mutex);
    device_.tuned.clear();
    device_.over.notify_all();
  }
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;
  Turn turn() const { return turn_; }

 private:
  Device& device_;
  Turn turn_ = Turn::later;
};

}  // namespace tuner::runtime
