#include <tuner/runtime/renewal.hpp>

#include <unistd.h>

#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <cache/browse.hpp>
#include <cache/database.hpp>

#include <tuner/core/threads.hpp>
#include <tuner/runtime/served_kernel.hpp>

namespace tuner::runtime {
namespace {

constexpr std::chrono::seconds kBetween{2};

/// nullopt when the file cannot be read now.
std::optional<std::string> results_in(const std::filesystem::path& file) {
  try {
    cache::OpenOptions options;
    options.strict = true;
    options.check_bytes = 0;
    options.busy_timeout = std::chrono::milliseconds(500);
    cache::Database database = cache::Database::open_read_only(file, options);
    return cache::results_stamp(database);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

Renewal::Renewal() : made_by_(::getpid()) {}

/// In a forked child, a thread of the parent may hold the lock for ever. Then returns no lock, and nothing is renewed.
std::unique_lock<std::mutex> Renewal::lock_kernels() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock && ::getpid() == made_by_) lock.lock();
  return lock;
}

void Renewal::add(ServedKernel& kernel) {
  if (const auto lock = lock_kernels()) kernels_.insert(&kernel);
}

void Renewal::remove(ServedKernel& kernel) {
  if (const auto lock = lock_kernels()) kernels_.erase(&kernel);
}

void Renewal::for_each(const std::function<void(ServedKernel&)>& act) {
  if (const auto lock = lock_kernels())
    for (ServedKernel* kernel : kernels_) act(*kernel);
}

void Renewal::renew(std::string_view name) {
  for_each([&](ServedKernel& kernel) {
    if (kernel.spec->name == name) kernel.renew();
  });
}

void Renewal::renew_all() {
  for_each([](ServedKernel& kernel) { kernel.renew(); });
}

void Renewal::renew_what_waits() {
  for_each([](ServedKernel& kernel) { kernel.renew(/*if_some_wait=*/true); });
}

void Renewal::watch(const std::filesystem::path& database, std::function<bool()> is_away) {
  const std::lock_guard lock(watching_);
  is_away_ = std::move(is_away);
  watched_by_ = ::getpid();
  database_ = database;
  written_ = cache::real_disk().stamp_of(database_);
  const WithoutSignals calm;
  try {
    std::thread([this] {
      std::unique_lock watching(watching_);
      begin();
      while (!ending_.wait_for(watching, kBetween, [this] { return ended_; })) look_locked();
    }).detach();
  } catch (const std::exception&) {  // then the next process sees the results of others
  }
}

/// Reads the results in the thread, because the caller of watch() is a first call.
void Renewal::begin() {
  was_away_ = is_away_ && is_away_();
  results_ = results_in(database_);
  const cache::FileStamp now = cache::real_disk().stamp_of(database_);
  if (now == written_) return;
  written_ = now;
  renew_all();
}

void Renewal::look_locked() {
  renew_what_waits();
  const bool is_away = is_away_ && is_away_();
  if (std::exchange(was_away_, is_away) && !is_away) renew_all();
  const cache::FileStamp now = cache::real_disk().stamp_of(database_);
  if (now == written_) return;
  const std::optional<std::string> results = results_in(database_);
  if (!results) return;  // the next check may succeed
  written_ = now;
  if (results == results_) return;
  results_ = results;
  renew_all();
}

void Renewal::look() {
  const std::lock_guard lock(watching_);
  look_locked();
}

void Renewal::end() {
  if (watched_by_ != ::getpid()) return;
  const std::lock_guard lock(watching_);
  ended_ = true;
  ending_.notify_all();
}

}  // namespace tuner::runtime
