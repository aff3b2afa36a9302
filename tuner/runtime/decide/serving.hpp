#pragma once
/// The settings, wisdom and warnings of this process. Devices: see served_device.hpp.

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/values/threads.hpp>
#include <tuner/session/wisdom/wisdom.hpp>
#include <tuner/settings.hpp>

namespace tuner::runtime {

/// Sets the member of \p settings that tuner_set() calls \p name. \p said: its name in messages, which is \p name for a
/// setting of the program, or the variable of the environment. Throws Error.
void set(Settings& settings, std::string_view name, const std::string& said, const std::string& value);

/// Runs \p work in a thread, which the future's end waits for. Runs nothing if there can be no more threads.
std::future<void> in_a_thread(std::function<void()> work);

class Serving {
 public:
  static Serving& process() {
    // Never destroyed: threads may launch while the process ends.
    static Serving& serving = *new Serving;
    return serving;
  }

  /// The device for calls from threads without a current context, as CallContext takes it. Decided at the first call,
  /// cheap afterwards. Throws Error for impossible settings, for a missing GPU, and as refuse_forked() does.
  int ordinal() {
    const int known = ordinal_.load(std::memory_order_relaxed);
    return known > kUndecided ? known : decide_ordinal();
  }
  /// Throws Error after a fork() of a process that had begun its first call: threads and driver did not come along, and
  /// locks may be held for ever.
  void refuse_forked() const;

  /// The context of a call that is not warm. The destructor delivers pending warnings.
  struct Terms {
    Serving& serving;
    Settings settings;  ///< with environment variables applied; no tuning after main() has ended
    Wisdom& wisdom;
    ~Terms() {
      if (serving.waiting_) serving.deliver_warnings();
    }
  };
  Terms terms();
  /// Starts opening the databases on another thread, so that a first call can read its kernel meanwhile. The destructor
  /// of the result waits for it. Throws Error as ordinal() does; terms() reports other failures.
  std::future<void> open_meanwhile();

  // Both do nothing in a forked child, whose calls are all refused.

  void configure(Settings settings);
  /// \p change makes other settings of the present ones. If it throws, they stay as they are.
  void change(const std::function<void(Settings&)>& change);
  /// From now on, refuse_forked() knows of forks. Returns whether that works; only the first call has an effect.
  static bool watch_forks();
  /// Queues \p message for Settings::on_warning; the same message only once.
  void warn(std::string_view message);

 private:
  static constexpr int kUndecided = -2, kForked = -3;

  Settings settings();
  void open_wisdom(const Settings& settings);
  int decide_ordinal();
  static const bool watches_forks_;
  void deliver_warnings() noexcept;

  std::mutex mutex_;  // guards configured_, warned_ and delivered_
  Settings configured_;
  std::atomic<int> ordinal_{kUndecided};
  std::atomic<bool> ending_{false}, waiting_{false};
  Once wisdom_once_;
  std::unique_ptr<Wisdom> wisdom_;
  std::vector<std::string> warned_;
  std::size_t delivered_ = 0;  // how many of warned_
};

}  // namespace tuner::runtime
