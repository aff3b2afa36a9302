#include <tuner/runtime/background/renewal.hpp>

#include <unistd.h>

#include <chrono>
#include <exception>
#include <utility>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner::runtime {
namespace {

/// nullopt when the file cannot be read now.
std::optional<std::string> results_in(const std::filesystem::path& file) {
  try {
    cache::OpenOptions options;
    options.strict = true;
    options.check_bytes = 0;
    options.busy_timeout = std::chrono::milliseconds(0);
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

void Renewal::add(Renewable& kernel) {
  if (const auto lock = lock_kernels()) kernels_.insert(&kernel);
}

void Renewal::remove(Renewable& kernel) {
  if (const auto lock = lock_kernels()) kernels_.erase(&kernel);
}

void Renewal::for_each(const std::function<void(Renewable&)>& act) {
  if (const auto lock = lock_kernels())
    for (Renewable* kernel : kernels_) act(*kernel);
}

void Renewal::renew(std::string_view name) {
  for_each([&](Renewable& kernel) {
    if (kernel.name() == name) kernel.renew(RenewedPlans::all);
  });
}

void Renewal::renew_what_waits() {
  for_each([](Renewable& kernel) { kernel.renew(RenewedPlans::waiting); });
}

void Renewal::begin(Wisdom& wisdom) {
  const std::lock_guard lock(looking_);
  wisdom_ = &wisdom;
  written_ = cache::last_commit(wisdom.user().path());
}

void Renewal::look() {
  const std::lock_guard lock(looking_);
  renew_what_waits();
  if (wisdom_ == nullptr || wisdom_->user().path().empty()) return;
  const auto renew_all = [this] { for_each([](Renewable& kernel) { kernel.renew(RenewedPlans::all); }); };
  const bool is_away = wisdom_->user().retry_file();
  if ((std::exchange(was_away_, is_away) && !is_away) || wisdom_->look_for_shipped()) renew_all();
  if (std::exchange(is_concluded_, false)) for_each([](Renewable& kernel) { kernel.renew(RenewedPlans::none); });
  const std::optional<cache::LastCommit> now = cache::last_commit(wisdom_->user().path());
  if (!now) return;
  is_concluded_ = results_ && now == written_;
  if (is_concluded_) return;
  const std::optional<std::string> results = results_in(wisdom_->user().path());
  if (!results) return;  // the next look may succeed
  const bool is_written = now != written_;
  written_ = now;
  if (results_ ? results != results_ : is_written)
    renew_all();
  else if (is_written)  // a result that was stored and removed since the last look leaves no trace, except in plans
    for_each([](Renewable& kernel) { kernel.renew(RenewedPlans::recent); });
  results_ = results;
  is_concluded_ = true;
}

}  // namespace tuner::runtime
