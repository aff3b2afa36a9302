#pragma once
/// Misses: launches without a measured result. They are counted for each plan, and written to the user's database.

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <cache/records/stored_records.hpp>

#include <tuner/backend/backend.hpp>
#include <tuner/session/wisdom/wisdom.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::runtime {

/// The counts of one problem in this process, for any number of plans and threads.
struct alignas(64) Miss {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<double> each_ns{0};  ///< the shortest launch that was timed; 0: none
};

/// Counts the launches of a plan, and times the first few.
class MissCounter {
 public:
  /// \p miss must live as long as the process. The backend's context must be current. Never fails.
  MissCounter(Miss& miss, Backend& backend);

  /// Counts a launch. Returns whether it should be timed, if it is not captured and begin() agrees.
  bool count() {
    const std::uint64_t before = miss_.calls.fetch_add(1, std::memory_order_relaxed);
    return (before & (before + 1)) == 0;  // the first, second, fourth, …
  }
  /// Whether the next launch on \p stream is timed; end() must then follow it. The caller must hold a BesideCaptures.
  bool begin(void* stream);
  void end(void* stream);

 private:
  static constexpr int kTimings = 3;

  void read();

  Miss& miss_;
  std::atomic<bool> busy_{false};  // one thread is timing; only it uses the members below
  std::unique_ptr<Stopwatch> watch_;
  bool unread_ = false;
  int timings_ = 0;
};

/// Housekeeping writes it, so that a caller never waits for a disk or another process.
class MissLog {
 public:
  static constexpr std::size_t kMaxMisses = 4096;  ///< for one process

  /// Never destroyed: threads may launch while the process ends.
  static MissLog& process() {
    static MissLog& log = *new MissLog;
    return log;
  }

  /// The counter for the problem \p size and those in the same classes, of which \p lowest has the lowest sizes. It
  /// lives as long as this log. Null when there are too many or the problem cannot be described.
  Miss* note(const KernelSpec& spec, const ProblemSize& size, const ProblemSize& lowest, const Device& device,
             const std::string& served);

  /// Adds the new counts to \p wisdom's user database. Returns false when another process has locked it or it cannot be
  /// written; the counts are then kept for the next time. There is no warning: only lost results deserve one. Does
  /// nothing in a forked child.
  bool flush(Wisdom& wisdom) noexcept;
  /// Whether anything was noted since the last time.
  bool take_news() noexcept { return noted_.exchange(false); }

 private:
  struct Entry {
    Miss miss;
    cache::MissRecord about;       // except the count
    std::uint64_t remembered = 0;  // calls already written
  };

  MissLog();
  bool is_forked() const;  // check it before any lock: a thread of the parent may hold the lock for ever

  const int process_;  // a forked child has its own copy of the counts, which the parent writes
  std::mutex noting_;  // guards entries_ and places_
  std::deque<Entry> entries_;
  std::map<std::string, Entry*> places_;
  std::atomic<bool> noted_{false};
  std::mutex flushing_;  // guards Entry::remembered
};

}  // namespace tuner::runtime
