#include <tuner/runtime/background/housekeeping.hpp>

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <random>
#include <thread>

#include <cache/file/paths.hpp>

#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/runtime/background/misses.hpp>
#include <tuner/runtime/background/renewal.hpp>

namespace tuner::runtime {
namespace {

using std::chrono::milliseconds;

constexpr Clock::time_point kNever = Clock::time_point::max();

/// When to write misses. A writer blocks readers. Random pauses keep processes that started together from writing
/// together. On a local disk the first write is at once: the process may end soon.
class Pauses {
 public:
  explicit Pauses(bool shared) : shared_(shared), longest_(shared ? Housekeeping::kLongestPause : milliseconds(0)) {}

  bool shared() const { return shared_; }
  milliseconds next() {
    const milliseconds least = failed_ ? Housekeeping::kRetry : milliseconds(0);
    std::uniform_int_distribution<milliseconds::rep> pause(least.count(), std::max(longest_, 2 * least).count());
    return milliseconds(pause(random_));
  }
  void written(bool succeeded) {
    failed_ = !succeeded;
    longest_ = std::clamp(2 * longest_, Housekeeping::kSecondPause, Housekeeping::kLongestPause);
  }

 private:
  const bool shared_;
  milliseconds longest_;
  bool failed_ = false;
  std::minstd_rand random_{static_cast<std::minstd_rand::result_type>(Clock::now().time_since_epoch().count())};
};

}  // namespace

Housekeeping::Housekeeping() : process_(::getpid()) {}

bool Housekeeping::is_forked() const { return ::getpid() != process_; }

void Housekeeping::begin(Wisdom& wisdom) noexcept try {
  if (is_forked()) return;
  const std::lock_guard lock(mutex_);
  if (has_thread_ || ending_) return;
  Renewal::process().begin(wisdom);
  const WithoutSignals calm;
  std::thread([this, &wisdom] { run(wisdom); }).detach();
  has_thread_ = true;
} catch (const std::exception&) {  // the next call that is not warm tries again
}

void Housekeeping::write_misses_soon() noexcept try {
  if (is_forked() || !MissLog::process().take_news()) return;
  const std::lock_guard lock(mutex_);
  wanted_ = true;
  changed_.notify_all();
} catch (const std::exception&) {
}

void Housekeeping::run(Wisdom& wisdom) {
  Pauses pauses(cache::on_network_file_system(wisdom.user().path()));
  const auto quietly = [](auto&& work) {  // nobody catches what leaves a thread, and later work may succeed
    try {
      return work();
    } catch (const std::exception&) {
      return false;
    }
  };
  const auto look = [&] { return Renewal::process().look(), true; };
  Clock::time_point next_look = Clock::now() + kFirstLook;
  Clock::time_point next_write = kNever;
  bool has_looked = false;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (wanted_ && next_write == kNever) next_write = Clock::now() + pauses.next();
    changed_.wait_until(lock, std::min(next_look, next_write),
                        [&] { return ending_ || (wanted_ && next_write == kNever); });
    const Clock::time_point now = Clock::now();
    const bool writes = !ending_ && now >= next_write;
    // The first look comes before the first write, which would look like new results of another process.
    const bool looks = !ending_ && (now >= next_look || (writes && !has_looked));
    has_looked = has_looked || looks;
    if (writes) wanted_ = false;
    lock.unlock();
    bool written = true;
    if (looks) (void)quietly(look);
    if (writes) pauses.written(written = quietly([&] { return MissLog::process().flush(wisdom); }));
    lock.lock();
    if (looks) next_look = Clock::now() + kBetweenLooks;
    if (writes) next_write = kNever;
    wanted_ = wanted_ || !written;
  }
  lock.unlock();
  if (!pauses.shared()) (void)quietly([&] { return MissLog::process().flush(wisdom); });
  lock.lock();
  ended_ = true;
  changed_.notify_all();
}

void Housekeeping::end() noexcept {
  if (is_forked()) return;
  std::unique_lock lock(mutex_);
  ending_ = true;
  if (!has_thread_) return;
  changed_.notify_all();
  changed_.wait_for(lock, kAtEnd, [&] { return ended_; });
}

}  // namespace tuner::runtime
