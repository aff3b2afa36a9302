#pragma once
/// Brings new results to the calls of this process. Results of tune() and of tuning on first use arrive at once.
/// Results that other processes store in the user's database arrive within five seconds (docs/api.md). Plans made
/// without them are then made again.

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <cache/query/database.hpp>

#include <tuner/session/wisdom/wisdom.hpp>

namespace tuner::runtime {

/// The plans of a kernel to discard. If one of them must go, all go.
enum class RenewedPlans {
  all,      ///< new wisdom has arrived
  waiting,  ///< plans that were inserted with for_now
  none,     ///< no plan. A look for new wisdom begins, and the last one has ended
  recent,   ///< plans with the user's results, if inserted since the last look but one or being made now
};

/// A kernel that calls are served with.
class Renewable {
 public:
  virtual const std::string& name() const = 0;
  virtual void renew(RenewedPlans which) = 0;

 protected:
  ~Renewable() = default;
};

class Renewal {
 public:
  static Renewal& process() {
    // Never destroyed: kernels may be destroyed while the process ends.
    static Renewal& renewal = *new Renewal;
    return renewal;
  }

  /// As long as it lives, \p kernel is renewed when there are new results for its name.
  void add(Renewable& kernel);
  void remove(Renewable& kernel);

  /// Reports new results for kernels with \p name.
  void renew(std::string_view name);
  /// Reports that a reason for plans that hold for now has ended.
  void renew_what_waits();

  /// From now on look() reads the user's database of \p wisdom, which must live as long as the process.
  void begin(Wisdom& wisdom);
  /// Reports new results since begin() or the last look, and plans that hold for now: whatever could not be asked is
  /// asked again. Reads the database only if a process has written to it, and waits for no lock.
  void look();

 private:
  Renewal();
  std::unique_lock<std::mutex> lock_kernels();
  void for_each(const std::function<void(Renewable&)>& act);

  const int made_by_;  // the process id
  std::mutex mutex_;   // guards kernels_
  std::set<Renewable*> kernels_;
  std::mutex looking_;  // guards all below
  Wisdom* wisdom_ = nullptr;
  bool was_away_ = false, is_concluded_ = true;  // the last look
  std::optional<cache::LastCommit> written_;
  std::optional<std::string> results_;  // the stamp of the results; none: they could not be read yet
};

}  // namespace tuner::runtime
