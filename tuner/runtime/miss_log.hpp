#pragma once
/// What this process was served without a result of its own, on its way to the user's database.

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <cache/records.hpp>

#include <tuner/core/elapsed.hpp>
#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/miss_counter.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::runtime {

class MissLog {
 public:
  static constexpr std::size_t kMaxMisses = 4096;  ///< in one process
  static constexpr std::chrono::seconds kBetween{10};

  /// Never destroyed: threads may still launch while the process ends.
  static MissLog& process() {
    static MissLog& log = *new MissLog;
    return log;
  }

  /// What counts the problem that \p bound poses, and those served like it; lives as long as this. Null when there are
  /// too many, or the problem cannot be described.
  Miss* note(const KernelSpec& spec, const BoundCall& bound, const Device& device, const std::string& served);

  /// Adds what was counted since to \p wisdom's user database. Counts that cannot be written are kept for the next
  /// time; nothing is said of it, since results are what the user is warned for. Does nothing in a forked child.
  void flush(Wisdom& wisdom) noexcept;
  /// flush() where there was none yet, or the last one is kBetween ago.
  void flush_at_times(Wisdom& wisdom) noexcept;

 private:
  struct Entry {
    Miss miss;
    cache::MissRecord about;       // but for the count
    std::uint64_t remembered = 0;  // of the calls
  };

  MissLog();

  const int process_;  // a fork has its own copy of counts that its parent writes
  std::mutex noting_;  // of entries_ and places_
  std::deque<Entry> entries_;
  std::map<std::string, Entry*> places_;
  std::mutex flushing_;  // of what was remembered of entries_
  std::optional<Clock::time_point> flushed_;
};

}  // namespace tuner::runtime
