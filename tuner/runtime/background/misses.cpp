#include <tuner/runtime/background/misses.hpp>

#include <unistd.h>

#include <limits>
#include <vector>

#include <cache/query/browse.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/error.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner::runtime {

MissCounter::MissCounter(Miss& miss, Backend& backend) : miss_(miss) {
  try {
    watch_ = backend.stopwatch();
  } catch (const Error&) {  // without a stopwatch nothing is timed, but launches work
  }
}

bool MissCounter::begin(void* stream) {
  if (busy_.exchange(true, std::memory_order_acquire)) return false;
  if (watch_ && unread_) read();
  if (timings_ == kTimings) watch_.reset();
  if (watch_ && !unread_) {
    watch_->start(stream);
    return true;
  }
  busy_.store(false, std::memory_order_release);
  return false;
}

void MissCounter::end(void* stream) {
  watch_->stop(stream);
  unread_ = true;
  read();
  busy_.store(false, std::memory_order_release);
}

/// Reads the last time if the device has finished.
void MissCounter::read() {
  const std::optional<double> ns = watch_->elapsed_ns();
  if (!ns) return;
  unread_ = false;
  ++timings_;
  const double known = miss_.each_ns.load(std::memory_order_relaxed);
  if (*ns > 0 && (known == 0 || *ns < known)) miss_.each_ns.store(*ns, std::memory_order_relaxed);
}

MissLog::MissLog() : process_(::getpid()) {}

Miss* MissLog::note(const KernelSpec& spec, const ProblemSize& size, const ProblemSize& lowest, const Device& device,
                    const std::string& served) try {
  const std::string place = spec.name + '\n' + lowest.text() + '\n' + device.key.text();
  {
    const std::lock_guard lock(noting_);
    if (const auto at = places_.find(place); at != places_.end()) return &at->second->miss;
    if (entries_.size() == kMaxMisses) return nullptr;
  }
  cache::MissRecord about;
  about.kernel = to_record(spec, {});
  about.problem = to_record(size);
  about.sizes_from = lowest.sizes;
  about.device_key = device.key.text();
  about.file = KernelLibrary::place_of(spec);
  about.served = served;
  about.first_ms = cache::now_ms();
  const std::lock_guard lock(noting_);
  Entry*& entry = places_[place];
  if (entry == nullptr) {
    entry = &entries_.emplace_back();
    entry->about = std::move(about);
    noted_ = true;
  }
  return &entry->miss;
} catch (const std::exception&) {
  return nullptr;  // a call works even if its miss cannot be stored
}

bool MissLog::is_forked() const { return ::getpid() != process_; }

bool MissLog::flush(Wisdom& wisdom) noexcept try {
  if (is_forked()) return true;
  const std::lock_guard flushing(flushing_);
  if (wisdom.user().is_in_memory()) return true;
  std::vector<cache::MissRecord> counted;
  std::vector<Entry*> of;
  {
    const std::lock_guard lock(noting_);
    for (Entry& entry : entries_) {
      const std::uint64_t calls = entry.miss.calls.load(std::memory_order_relaxed);
      if (calls == entry.remembered) continue;
      const double each = entry.miss.each_ns.load(std::memory_order_relaxed);
      cache::MissRecord& record = counted.emplace_back(entry.about);
      record.calls = static_cast<std::int64_t>(calls - entry.remembered);
      record.each_ns = each > 0 ? each : std::numeric_limits<double>::quiet_NaN();
      record.last_ms = cache::now_ms();
      of.push_back(&entry);
    }
  }
  if (counted.empty()) return true;
  // A separate connection, because an error here must not move the results to memory. It does not wait for locks: a
  // thousand processes may have their first misses at the same moment.
  cache::OpenOptions options;
  options.strict = true;
  options.may_replace = false;  // results are worth more than misses
  options.check_bytes = 0;      // little time is left at the end of the process
  options.busy_timeout = std::chrono::milliseconds(0);
  cache::Database database = cache::Database::open_user(wisdom.user().path(), options);
  cache::remember_misses(database, counted);
  for (std::size_t i = 0; i < of.size(); ++i) of[i]->remembered += static_cast<std::uint64_t>(counted[i].calls);
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace tuner::runtime
