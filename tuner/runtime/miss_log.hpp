#pragma once
/// What this process was served without a result of its own, on its way to the user's database.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include <cache/records.hpp>

#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/miss_counter.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::runtime {

/// A thread of its own writes: a caller never waits for a disk, nor for another process.
class MissLog {
 public:
  static constexpr std::size_t kMaxMisses = 4096;  ///< in one process
  /// How long a miss waits to be written, at the most: of the first ones, and of later ones. On a network file system
  /// it is always the latter, and nothing is written when the process ends.
  static constexpr std::chrono::milliseconds kFirstPause{500}, kLongestPause{60'000}, kRetry{1000};
  static constexpr std::chrono::milliseconds kAtEnd{5};

  /// Never destroyed: threads may still launch while the process ends.
  static MissLog& process() {
    static MissLog& log = *new MissLog;
    return log;
  }

  /// What counts the problem that \p bound poses, and those served like it; lives as long as this. Null when there are
  /// too many, or the problem cannot be described.
  Miss* note(const KernelSpec& spec, const BoundCall& bound, const Device& device, const std::string& served);

  /// Adds what was counted since to \p wisdom's user database. False where another process had it locked, or it cannot
  /// be written: the counts are kept for the next time; nothing is said of it, since results are what the user is
  /// warned for. Does nothing in a forked child.
  bool flush(Wisdom& wisdom) noexcept;
  /// Has the thread do that soon, if something was noted since.
  void flush_soon(Wisdom& wisdom) noexcept;
  /// Has it do so for the last time, and waits for it, but not beyond kAtEnd.
  void flush_at_end() noexcept;

 private:
  struct Entry {
    Miss miss;
    cache::MissRecord about;       // but for the count
    std::uint64_t remembered = 0;  // of the calls
  };

  MissLog();
  void write_at_times(Wisdom& wisdom);
  bool is_forked() const;  // before any lock: a thread of the parent's may have held it then, and never lets go

  const int process_;  // a fork has its own copy of counts that its parent writes
  std::mutex noting_;  // of entries_ and places_
  std::deque<Entry> entries_;
  std::map<std::string, Entry*> places_;
  std::atomic<bool> noted_{false};  // since the thread was last told
  std::mutex flushing_;             // of what was remembered of entries_
  std::mutex writing_;              // of the rest
  std::condition_variable changed_;
  bool has_thread_ = false, wanted_ = false, ending_ = false, ended_ = false;
};

}  // namespace tuner::runtime
