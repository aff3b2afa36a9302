#pragma once
/// New results reach the calls of this process: those of tune() and of a tuning on first use at once, those that other
/// processes store in the user's database within kWithin. Plans that were made without them are then made anew.

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tuner::runtime {

class ServedKernel;

class Renewal {
 public:
  static constexpr std::chrono::seconds kWithin{5};  ///< docs/api.md

  static Renewal& process() {
    // Never destroyed: kernels may be, while the process ends.
    static Renewal& renewal = *new Renewal;
    return renewal;
  }

  /// \p kernel, and kernels of the same name, hear of new results as long as it lives.
  void add(ServedKernel& kernel);
  void remove(ServedKernel& kernel);

  /// There are new results for kernels called \p name.
  void renew(std::string_view name);
  void renew_all();
  /// What kept calls from tuning, or from taking another thread's result, is over.
  void renew_what_waits();

  /// Looks at \p database every other second, on a thread of its own, until end(). Allocates nothing while no process
  /// writes to it.
  void watch(const std::filesystem::path& database);
  /// Does so now.
  void look();
  /// How often a look found new results.
  std::uint64_t renewals();
  /// Returns when the thread does nothing any more. For the end of the process.
  void end();

 private:
  /// Inode, length and time of the database and its log. Differs when one was written.
  using FileStamp = std::array<std::int64_t, 8>;

  Renewal();
  FileStamp stamp_of_files() const;
  std::unique_lock<std::mutex> lock_kernels();
  void begin();
  void look_locked();

  const int made_by_;  // the process
  std::mutex mutex_;   // of kernels_
  std::set<ServedKernel*> kernels_;
  std::mutex watching_;  // of all below; held while the database is read
  std::condition_variable ending_;
  bool ended_ = false;
  std::string database_, log_;  // its file, and what is on its way into that
  FileStamp files_{};
  std::optional<std::string> results_;  // their stamp; none: they could not be read
  std::uint64_t renewals_ = 0;
  int watched_by_ = 0;  // the process that has the thread: a fork has none
};

}  // namespace tuner::runtime
