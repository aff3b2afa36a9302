#include <cache/session.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include <cache/record_checks.hpp>
#include <cache/rows.hpp>
#include <cache/stamps.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace {

/// A store that could not take a commit is not asked again before.
constexpr std::chrono::milliseconds kRetryAfter{250};

}  // namespace

struct SessionWriter::Impl {
  Impl(Database& database, SessionKey key, SessionOptions o)
      : store(database.store()), options(std::move(o)), record{std::move(key),   make_uuid(),
                                                               options.strategy, options.seed,
                                                               options.origin,   now_ms(),
                                                               std::nullopt,     0} {}

  /// Trials [\p first, \p end).
  std::vector<StoredTrial> trials_from(std::size_t first, std::size_t end) {
    const std::lock_guard lock(mutex);
    const auto at = [&](std::size_t i) { return history.begin() + static_cast<std::ptrdiff_t>(i); };
    return {at(first), at(end)};
  }

  /// Inside a transaction: the session's row, and \p fresh of its trials, the last of the \p end to be stored by now.
  std::int64_t put(const std::vector<StoredTrial>& fresh, std::size_t end) {
    bool added = false;
    const auto id = ensure_session(store, record, &added);
    // A file that was set aside took this session with it: the new one gets all of it.
    for (const StoredTrial& trial : added ? trials_from(0, end) : fresh) put_trial(store, id, trial);
    return id;
  }

  /// Commits what has been added when it is called. \p mutex is free meanwhile: a commit waits for the disk, and
  /// add() must not.
  void commit() {
    const std::lock_guard one(committing);
    std::size_t begin = 0, end = 0;
    {
      const std::lock_guard lock(mutex);
      begin = committed;
      end = history.size();
    }
    if (begin == end && session_known) return;
    const std::vector<StoredTrial> fresh = trials_from(begin, end);
    store.write([&] { put(fresh, end); });
    session_known = true;
    const std::lock_guard lock(mutex);
    committed = end;
  }

  /// As commit(), for places that must not throw; what went wrong has been said by the store or is said now.
  bool commit_quietly() noexcept {
    try {
      commit();
      return true;
    } catch (const std::exception& error) {
      try {
        store.warn_once("session", error.what());
      } catch (...) {
      }
      return false;
    }
  }

  void watch() {
    std::unique_lock lock(mutex);
    while (!stop) {
      if (committed == history.size()) {
        changed.wait(lock, [&] { return stop || committed != history.size(); });
        continue;
      }
      const auto due = oldest + options.batch_time;
      if (changed.wait_until(lock, due, [&] { return stop || committed == history.size(); })) continue;
      lock.unlock();
      const bool done = commit_quietly();
      lock.lock();
      oldest = std::chrono::steady_clock::now();
      if (!done) oldest += kRetryAfter;
    }
  }

  Store& store;
  SessionOptions options;
  std::mutex committing;  // one transaction at a time; taken before `mutex`; guards the next two
  SessionRecord record;
  bool session_known = false;
  std::mutex mutex;  // guards the rest
  std::condition_variable changed;
  std::vector<StoredTrial> history;  // all trials of this writer
  std::size_t committed = 0;
  std::chrono::steady_clock::time_point oldest;
  bool stop = false;
  std::thread watcher;
};

SessionWriter::SessionWriter(Database& database, SessionKey key, SessionOptions options) {
  for (const auto& problem : {problem_with(key.kernel), problem_with(key.device), problem_with(key.problem)}) {
    if (problem) throw CacheError("cannot begin a session: " + *problem);
  }
  if (options.batch_trials == 0) options.batch_trials = 1;
  impl_ = std::make_unique<Impl>(database, std::move(key), std::move(options));
  impl_->commit();
  impl_->watcher = std::thread([impl = impl_.get()] { impl->watch(); });
}

SessionWriter::~SessionWriter() {
  impl_->commit_quietly();
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stop = true;
  }
  impl_->changed.notify_all();
  if (impl_->watcher.joinable()) impl_->watcher.join();
}

void SessionWriter::add(const TrialRecord& trial) {
  if (const auto problem = problem_with(trial)) throw CacheError("cannot store a trial: " + *problem);
  std::unique_lock lock(impl_->mutex);
  StoredTrial stored{impl_->record.uuid, static_cast<std::int64_t>(impl_->history.size()) + 1, trial};
  if (stored.trial.created_ms == 0) stored.trial.created_ms = now_ms();
  if (impl_->history.size() == impl_->committed) impl_->oldest = std::chrono::steady_clock::now();
  impl_->history.push_back(std::move(stored));
  const bool full = impl_->history.size() - impl_->committed >= impl_->options.batch_trials;
  lock.unlock();
  if (full) impl_->commit_quietly();
  impl_->changed.notify_all();
}

void SessionWriter::flush() { impl_->commit(); }

void SessionWriter::set_best(const std::string& configuration) {
  impl_->commit();
  const std::lock_guard one(impl_->committing);
  auto& store = impl_->store;
  const auto& key = impl_->record.key;
  store.write([&] {
    const auto id = impl_->put({}, committed());
    std::optional<StoredTrial> measured;
    {
      Query row(store,
                "SELECT " TUNER_CACHE_TRIAL_COLUMNS
                ", s.uuid FROM session own JOIN session s ON s.kernel_id = own.kernel_id AND s.device_id = "
                "own.device_id AND s.problem_id = own.problem_id AND s.environment_id = own.environment_id JOIN trial "
                "t ON t.session_id = s.id JOIN configuration c ON c.id = t.configuration_id WHERE own.id = ?1 AND "
                "t.configuration_id = (SELECT id FROM configuration WHERE text = ?2) AND t.kind = 'ok' AND t.verified "
                "= 1 AND t.abandoned = 0 AND t.median_ns > 0 ORDER BY t.created_ms DESC, s.id DESC, t.seq DESC",
                id, configuration);
      while (!measured && row.next()) measured = trial_from(row, row.text(21));
    }
    if (!measured || measured->trial.configuration != configuration) {
      throw CacheError(fmt::format("'{}' cannot become the best of {} for {}: no verified measurement of it is stored",
                                   configuration, key.kernel.name, sizes_text(key.problem.sizes)));
    }
    const auto& t = measured->trial;
    put_best(store, {key.kernel, key.device, key.environment, key.problem, configuration, t.median_ns, t.low_ns,
                     t.high_ns, t.relative_noise, std::max<std::int64_t>(1, std::ssize(t.samples_ns)), t.created_ms});
  });
}

void SessionWriter::finish() {
  impl_->commit();
  const std::lock_guard one(impl_->committing);
  impl_->record.finished_ms = now_ms();
  auto& store = impl_->store;
  store.write([&] {
    const auto id = impl_->put({}, committed());
    Query(store, "UPDATE session SET finished_ms = ? WHERE id = ?", impl_->record.finished_ms, id).run();
  });
}

const std::string& SessionWriter::uuid() const { return impl_->record.uuid; }

std::size_t SessionWriter::committed() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->committed;
}

namespace {

/// Undamaged sessions of the same tuning, oldest first.
std::vector<std::pair<std::int64_t, SessionRecord>> same_sessions(Store& store, const SessionKey& key) {
  std::vector<std::pair<std::int64_t, SessionRecord>> found;
  const auto kernel = find_kernel(store, key.kernel);
  const auto device = find_device(store, key.device.key);
  const auto problem = find_problem(store, key.problem);
  if (!kernel || !device || !problem) return found;
  Query row(store,
            "SELECT " TUNER_CACHE_SESSION_COLUMNS
            " FROM session s JOIN kernel k ON k.id = s.kernel_id JOIN device d ON d.id = s.device_id JOIN environment "
            "e ON e.id = s.environment_id JOIN problem p ON p.id = s.problem_id WHERE s.kernel_id = ? AND s.device_id "
            "= ? AND s.problem_id = ? AND s.conditions = ? AND e.driver = ? AND e.compiler = ? ORDER BY s.started_ms, "
            "s.id",
            *kernel, *device, *problem, key.conditions, key.environment.driver, key.environment.compiler);
  while (row.next()) {
    auto session = session_from(row);
    if (session && session->key.kernel == key.kernel && session->key.device.key == key.device.key &&
        session->key.problem == key.problem && session->key.conditions == key.conditions) {
      found.emplace_back(row.integer(kSessionIdColumn), std::move(*session));
    } else {
      warn_of_damaged_rows(store);
    }
  }
  return found;
}

std::vector<TrialRecord> trials_of(Store& store, std::int64_t session_id, const std::string& uuid) {
  std::vector<TrialRecord> trials;
  Query row(store,
            "SELECT " TUNER_CACHE_TRIAL_COLUMNS
            " FROM trial t JOIN configuration c ON c.id = t.configuration_id WHERE t.session_id = ? ORDER BY t.seq",
            session_id);
  while (row.next()) {
    if (auto stored = trial_from(row, uuid)) {
      trials.push_back(std::move(stored->trial));
    } else {
      warn_of_damaged_rows(store);
    }
  }
  return trials;
}

}  // namespace

std::vector<TrialRecord> finished_trials(Database& database, const SessionKey& key) {
  auto& store = database.store();
  return store.read([&] {
    std::vector<TrialRecord> all;
    std::map<std::string, std::size_t> place;
    for (const auto& [id, session] : same_sessions(store, key)) {
      for (auto& trial : trials_of(store, id, session.uuid)) {
        const auto [at, is_new] = place.try_emplace(trial.configuration, all.size());
        if (is_new) {
          all.push_back(std::move(trial));
        } else {
          all[at->second] = std::move(trial);
        }
      }
    }
    return all;
  });
}

std::vector<TrialRecord> session_trials(Database& database, const std::string& uuid) {
  auto& store = database.store();
  return store.read([&] {
    std::optional<std::int64_t> id;
    {
      Query row(store, "SELECT id FROM session WHERE uuid = ?", uuid);
      if (row.next()) id = row.integer(0);
    }
    return id ? trials_of(store, *id, uuid) : std::vector<TrialRecord>{};
  });
}

std::optional<SessionRecord> last_session(Database& database, const SessionKey& key) {
  auto& store = database.store();
  return store.read([&] {
    std::optional<SessionRecord> last;
    const auto all = same_sessions(store, key);
    if (all.empty()) return last;
    last = all.back().second;
    Query count(store, "SELECT count(*) FROM trial WHERE session_id = ?", all.back().first);
    if (count.next()) last->trials = count.integer(0);
    return last;
  });
}

}  // namespace tuner::cache
