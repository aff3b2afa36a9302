#pragma once
/// The one background thread of serving: looks for new results (renewal.hpp), and writes misses (misses.hpp). A caller
/// therefore never waits for a disk or another process, and neither does exit().

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <tuner/session/wisdom/wisdom.hpp>

namespace tuner::runtime {

class Housekeeping {
 public:
  /// The time between two looks for new results.
  static constexpr std::chrono::seconds kBetweenLooks{2};
  /// The time before the first look, or until misses are written. begin() belongs to a first call, which reads the same
  /// database and would wait for the look.
  static constexpr std::chrono::milliseconds kFirstLook{50};
  /// The longest time before misses are written: the first at once, the next after kSecondPause, and so on up to
  /// kLongestPause. On a network file system it is always kLongestPause, and nothing is written when the process ends.
  static constexpr std::chrono::milliseconds kSecondPause{500}, kLongestPause{60'000}, kRetry{1000};
  static constexpr std::chrono::milliseconds kAtEnd{5};

  /// Never destroyed: threads may launch while the process ends.
  static Housekeeping& process() {
    static Housekeeping& housekeeping = *new Housekeeping;
    return housekeeping;
  }

  /// Starts the thread unless it runs. If there can be no more threads now, the next call tries again. \p wisdom must
  /// live as long as the process. Does nothing in a forked child.
  void begin(Wisdom& wisdom) noexcept;
  /// Makes the thread write soon, if a miss was noted since the last time.
  void write_misses_soon() noexcept;
  /// Makes the thread write a last time, and waits at most kAtEnd for its end.
  void end() noexcept;

 private:
  Housekeeping();
  bool is_forked() const;  // check it before the lock: a thread of the parent may hold it for ever
  void run(Wisdom& wisdom);

  const int process_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  bool has_thread_ = false, wanted_ = false, ending_ = false, ended_ = false;
};

}  // namespace tuner::runtime
