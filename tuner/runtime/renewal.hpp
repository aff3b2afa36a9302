#pragma once
/// Brings new results to the calls of this process. Results of tune() and of tuning on first use arrive at once, those
/// that other processes store in the user's database within five seconds (docs/api.md). Plans made without them are
/// then made again.

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <cache/disk.hpp>

namespace tuner::runtime {

class ServedKernel;

class Renewal {
 public:
  static Renewal& process() {
    // Never destroyed: kernels may be destroyed while the process ends.
    static Renewal& renewal = *new Renewal;
    return renewal;
  }

  /// As long as it lives, \p kernel is renewed when there are new results for its name.
  void add(ServedKernel& kernel);
  void remove(ServedKernel& kernel);

  /// Reports new results for kernels with \p name.
  void renew(std::string_view name);
  void renew_all();
  /// Reports that a reason not to tune, or not to use another thread's result, has ended.
  void renew_what_waits();

  /// Checks \p database every two seconds in a background thread, until end(). Allocates nothing unless a process
  /// writes to it. \p is_away: whether memory stands in for it; it is tried again then.
  void watch(const std::filesystem::path& database, std::function<bool()> is_away = {});
  /// Checks it now.
  void look();
  /// For the end of the process: after it returns, the thread does nothing more.
  void end();

 private:
  Renewal();
  std::unique_lock<std::mutex> lock_kernels();
  void for_each(const std::function<void(ServedKernel&)>& act);
  void begin();
  void look_locked();

  const int made_by_;  // the process id
  std::mutex mutex_;   // guards kernels_
  std::set<ServedKernel*> kernels_;
  std::mutex watching_;  // guards all below; held while the database is read
  std::condition_variable ending_;
  bool ended_ = false;
  std::filesystem::path database_;
  std::function<bool()> is_away_;
  bool was_away_ = false;
  cache::FileStamp written_;
  std::optional<std::string> results_;  // the stamp of the results; none: they could not be read
  int watched_by_ = 0;                  // the process that has the thread: a forked child has none
};

}  // namespace tuner::runtime
