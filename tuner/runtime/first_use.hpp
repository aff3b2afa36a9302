#pragma once
/// The right to tune a problem on first use, among the threads of this process: one at a time for each device.
/// cache::Claim is the same between processes.

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <tuner/runtime/renewal.hpp>

namespace tuner::runtime {

class FirstUse {
 public:
  /// Shared by the threads that use one device.
  struct Device {
    std::mutex mutex;
    std::condition_variable over;
    std::string tuned;              ///< the problem that is being tuned; empty: none
    std::set<std::string> in_vain;  ///< problems for which another process was waited for in vain
  };
  enum class Turn {
    mine,   ///< this thread tunes
    over,   ///< another thread has just tuned this problem; this one waited for it
    later,  ///< the device is busy with another problem
  };

  FirstUse(Device& device, std::string problem) : device_(device), problem_(std::move(problem)) {
    std::unique_lock lock(device_.mutex);
    if (device_.tuned.empty()) {
      device_.tuned = problem_;
      turn_ = Turn::mine;
    } else if (device_.tuned == problem_) {
      device_.over.wait(lock, [&] { return device_.tuned != problem_; });
      turn_ = Turn::over;
    }
  }
  ~FirstUse() {
    if (turn_ != Turn::mine) return;
    {
      const std::lock_guard lock(device_.mutex);
      device_.tuned.clear();
      device_.over.notify_all();
    }
    Renewal::process().renew_what_waits();
  }
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;
  Turn turn() const { return turn_; }

  /// Whether this process has waited for another process in vain. It does not wait for this problem again.
  bool in_vain() const {
    const std::lock_guard lock(device_.mutex);
    return device_.in_vain.count(problem_) > 0;
  }
  void set_in_vain() {
    const std::lock_guard lock(device_.mutex);
    device_.in_vain.insert(problem_);
  }

 private:
  Device& device_;
  const std::string problem_;
  Turn turn_ = Turn::later;
};

}  // namespace tuner::runtime
