#include <cache/query/session.hpp>

#include <chrono>
#include <map>

#include <fmt/format.h>

#include <cache/query/rows.hpp>
#include <cache/query/store.hpp>

namespace tuner::cache {
namespace {

/// After a failed commit, the store is tried again only after this time.
constexpr std::chrono::milliseconds kRetryAfter{250};

}  // namespace

SessionWriter::SessionWriter(Database& database, SessionKey key, SessionSource source)
    : store_(database.store()), record_{std::move(key), make_uuid(), source.strategy, source.seed,
                                        source.origin,  now_ms(),    std::nullopt,    0} {
  for (const auto& problem :
       {problem_with(record_.key.kernel), problem_with(record_.key.device), problem_with(record_.key.problem)})
    if (problem) throw CacheError("cannot begin a session: " + *problem);
  commit();
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

SessionWriter::~SessionWriter() { commit_quietly(); }

/// Trials [\p first, \p end).
std::vector<StoredTrial> SessionWriter::trials_from(std::size_t first, std::size_t end) {
  const std::lock_guard lock(mutex_);
  const auto at = [&](std::size_t i) { return history_.begin() + static_cast<std::ptrdiff_t>(i); };
  return {at(first), at(end)};
}

/// Commits the trials that were added before the call, and what \p also writes, which is repeated as Store::write()
/// says. Leaves `mutex_` free: a commit waits for the disk, and add() must not.
void SessionWriter::commit(std::function<void()> also) {
  const std::lock_guard one(committing_);
  std::size_t begin = 0, end = 0;
  {
    const std::lock_guard lock(mutex_);
    begin = committed_;
    end = history_.size();
  }
  if (begin == end && session_known_ && !also) return;
  store_.write([this, &store = store_, record = record_, trials = trials_from(begin, end), end,
                also = std::move(also)]() mutable {
    if (!stored(store, record)) {
      put(store, record);
      // If the file was set aside, the new one gets all of the session. While memory stood in for the file, another
      // process may have removed the first trials: they do not come back.
      if (!store.is_repeating()) trials = trials_from(0, end);
    }
    for (const StoredTrial& trial : trials) put(store, trial);
    if (also) also();
  });
  session_known_ = true;
  const std::lock_guard lock(mutex_);
  committed_ = end;
}

/// Like commit(), for places that must not throw. Warns of an error unless the store has done so.
bool SessionWriter::commit_quietly() noexcept {
  try {
    commit();
    return true;
  } catch (const std::exception& error) {
    try {
      store_.warn_once("session", error.what());
    } catch (...) {
    }
    return false;
  }
}

void SessionWriter::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, stop, [&] { return committed_ != history_.size(); });
    if (stop.stop_requested()) return;
    lock.unlock();
    const bool done = commit_quietly();
    lock.lock();
    if (!done) changed_.wait_for(lock, stop, kRetryAfter, [] { return false; });
  }
}

void SessionWriter::add(const TrialRecord& trial) {
  StoredTrial stored{uuid(), 0, trial};
  for (auto* text : {&stored.trial.message, &stored.trial.log}) *text = prose(*text);
  if (stored.trial.samples_ns.size() > kMaxSamples) stored.trial.samples_ns.resize(kMaxSamples);
  if (const auto problem = problem_with(stored.trial)) throw CacheError("cannot store a trial: " + *problem);
  std::unique_lock lock(mutex_);
  stored.seq = static_cast<std::int64_t>(history_.size()) + 1;
  if (stored.trial.created_ms == 0) stored.trial.created_ms = now_ms();
  history_.push_back(std::move(stored));
  lock.unlock();
  changed_.notify_all();
}

void SessionWriter::flush() { commit(); }

std::optional<BestRecord> SessionWriter::best() {
  return store_.read([&] { return stored(store_, BestRecord{record_.key, {}, {}}); });
}

void SessionWriter::set_best(const std::string& configuration, const BestOrigin& origin) {
  store_.try_file_again();
  commit([&store = store_, key = record_.key, configuration, origin] {
    Quarantine quarantine(key.device.key, key.kernel, {key.problem});
    if (const auto reason = quarantine.reason_against(store, configuration)) {
      throw CacheError(fmt::format("'{}' cannot become the best of {}: {}", configuration, key.kernel.name, *reason));
    }
    BestRecord best{key, {}, configuration};
    const auto measured = latest_measurement(store, best);
    if (!measured) {
      throw CacheError(fmt::format("'{}' cannot become the best of {} for {}: no verified measurement of it is stored",
                                   configuration, key.kernel.name, sizes_text(key.problem.sizes)));
    }
    const auto& t = measured->trial;
    static_cast<TimeRecord&>(best) = t;
    best.samples = std::max<std::int64_t>(1, std::ssize(t.samples_ns));
    best.measured_ms = t.created_ms;
    if (t.resources) best.target = t.resources->target;
    best.checked = prose(origin.checked);
    best.effort = origin.effort;
    best.rule = origin.rule;
    put(store, best);
  });
}

void SessionWriter::set_effort(const std::string& configuration, const std::string& effort) {
  commit([&store = store_, key = record_.key, configuration, effort] {
    auto best = stored(store, BestRecord{key, {}, {}});
    if (!best || best->configuration != configuration) return;
    best->effort = effort;
    put(store, *best);
  });
}

void SessionWriter::finish(std::string spent) {
  store_.try_file_again();
  {
    const std::lock_guard one(committing_);
    record_.finished_ms = now_ms();
    record_.spent = std::move(spent);
  }
  commit([&store = store_, finished = record_] { put(store, finished); });
}

namespace {

/// Undamaged sessions of the same tuning, oldest first.
std::vector<SessionRecord> same_sessions(Store& store, const SessionKey& key) {
  const std::string sql =
      statements<SessionRecord>().select + " WHERE kernel = ? AND choices = ? AND sizes = ? ORDER BY started, id";
  auto found = take_sound<SessionRecord>(
      store, Query(store, sql, key.kernel.name, key.problem.choices, sizes_text(key.problem.sizes)));
  std::erase_if(found, [&](const SessionRecord& s) { return s.key.identity() != key.identity(); });
  return found;
}

}  // namespace

std::vector<TrialRecord> finished_trials(Database& database, const SessionKey& key) {
  return database.store().read([&] {
    std::vector<TrialRecord> all;
    std::map<std::string, std::size_t> place;
    for (const auto& session : same_sessions(database.store(), key)) {
      for (auto& trial : session_trials(database, session.uuid)) {
        const auto [at, is_new] = place.try_emplace(trial.configuration, all.size());
        if (is_new) all.emplace_back();
        all[at->second] = std::move(trial);
      }
    }
    return all;
  });
}

std::vector<TrialRecord> session_trials(Database& database, const std::string& uuid) {
  auto& store = database.store();
  return store.read([&] {
    std::vector<TrialRecord> trials;
    for (auto& stored : stored_trials(store, uuid)) trials.push_back(std::move(stored.trial));
    return trials;
  });
}

std::vector<SessionRecord> sessions_of(Database& database, const SessionKey& key) {
  return database.store().read([&] { return same_sessions(database.store(), key); });
}

}  // namespace tuner::cache
