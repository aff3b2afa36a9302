#pragma once
/// What the process has been told and knows: settings, wisdom, warnings. Devices: served_device.hpp.

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/once.hpp>
#include <tuner/session/wisdom.hpp>
#include <tuner/settings.hpp>

namespace tuner::runtime {

class Serving {
 public:
  static Serving& process() {
    // Never destroyed: threads may still launch while the process ends.
    static Serving& serving = *new Serving;
    return serving;
  }

  /// Where calls go whose thread has no current context, as CallContext takes it. Decided at the first call: throws
  /// Error for settings that cannot be, a GPU that is not there, and after on_fork(). Cheap afterwards.
  int ordinal() {
    const int known = ordinal_.load(std::memory_order_relaxed);
    return known > kUndecided ? known : decide_ordinal();
  }
  /// This process was forked from one that was served: threads and driver stayed there.
  static void on_fork() { process().ordinal_ = kForked; }

  /// What a call is served under that is not warm. Warnings are told when the last one on this thread ends.
  struct Terms {
    Serving& serving;
    Settings settings;  ///< with the environment's say; no tuning once main() has ended
    Wisdom& wisdom;
    ~Terms() {
      if (serving.waiting_) serving.deliver_warnings();
    }
  };
  Terms terms();
  /// Starts opening the databases on another thread, so that a first call can read its kernel meanwhile. Destroying the
  /// result waits for it. Throws Error as ordinal() does; other failures are left for terms() to meet.
  std::future<void> open_meanwhile();

  void configure(Settings settings);
  /// Keeps \p message for Settings::on_warning; the same message only once.
  void warn(std::string_view message);

 private:
  static constexpr int kUndecided = -2, kForked = -3;

  Settings settings();
  void open_wisdom(const Settings& settings);
  int decide_ordinal();
  void deliver_warnings() noexcept;

  std::mutex mutex_;  // of configured_, warned_ and told_
  Settings configured_;
  std::atomic<int> ordinal_{kUndecided};
  std::atomic<bool> ending_{false}, waiting_{false};
  Once wisdom_once_;
  std::unique_ptr<Wisdom> wisdom_;
  std::vector<std::string> warned_;
  std::size_t told_ = 0;  // of warned_
};

}  // namespace tuner::runtime
