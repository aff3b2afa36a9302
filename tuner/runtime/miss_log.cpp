#include <tuner/runtime/miss_log.hpp>

#include <unistd.h>

#include <limits>
#include <vector>

#include <cache/misses.hpp>

#include <tuner/session/kernel_library.hpp>
#include <tuner/session/records.hpp>

namespace tuner::runtime {

MissLog::MissLog() : process_(::getpid()) {}

Miss* MissLog::note(const KernelSpec& spec, const BoundCall& bound, const Device& device,
                    const std::string& served) try {
  const std::string place = spec.name + '\n' + bound.lowest.text() + '\n' + device.key.text();
  {
    const std::lock_guard lock(noting_);
    if (const auto at = places_.find(place); at != places_.end()) return &at->second->miss;
    if (entries_.size() == kMaxMisses) return nullptr;
  }
  cache::MissRecord about;
  about.kernel = to_record(spec, {});
  about.problem = to_record(bound.size);
  about.sizes_from = bound.lowest.sizes;
  about.device_key = device.key.text();
  about.file = KernelLibrary::place_of(spec);
  about.served = served;
  about.first_ms = cache::now_ms();
  const std::lock_guard lock(noting_);
  Entry*& entry = places_[place];
  if (entry == nullptr) {
    entry = &entries_.emplace_back();
    entry->about = std::move(about);
  }
  return &entry->miss;
} catch (const std::exception&) {
  return nullptr;  // what cannot be remembered is served all the same
}

void MissLog::flush(Wisdom& wisdom) noexcept try {
  // Before any lock: a thread of the parent's may have held it when this process was forked, and never lets go.
  if (::getpid() != process_) return;
  const std::lock_guard flushing(flushing_);
  if (wisdom.user().is_in_memory()) return;
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
  if (counted.empty()) return;
  flushed_ = Clock::now();
  // A connection of its own: what fails here must not move the results to memory, nor wait for long.
  cache::OpenOptions options;
  options.strict = true;
  options.busy_timeout = std::chrono::milliseconds(500);
  cache::Database database = cache::Database::open_user(wisdom.user().path(), options);
  cache::remember_misses(database, counted);
  for (std::size_t i = 0; i < of.size(); ++i) of[i]->remembered += static_cast<std::uint64_t>(counted[i].calls);
} catch (const std::exception&) {
}

void MissLog::flush_at_times(Wisdom& wisdom) noexcept {
  {
    const std::unique_lock flushing(flushing_, std::try_to_lock);
    if (!flushing || (flushed_ && Clock::now() - *flushed_ < kBetween)) return;
  }
  flush(wisdom);
}

}  // namespace tuner::runtime
