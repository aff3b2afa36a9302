#pragma once
/// Writes the trials of a tuning as they happen, and reads them back when it is resumed.

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <cache/query/database.hpp>
#include <cache/records/stored_records.hpp>

namespace tuner::cache {

struct StoredTrial;  // fields.hpp

/// How the trials are chosen, and who measures.
struct SessionSource {
  std::string strategy = {};
  std::uint64_t seed = 0;
  std::string origin = "tune";  ///< "tune", "first use"
};

/// How a best configuration was found: members of BestRecord.
struct BestOrigin {
  std::string effort = {};
  std::string checked = {};
  std::string rule = {};
};

/// A background thread commits the trials. Each commit takes all trials that came while the last one waited for the
/// disk. add() never waits, and a kill -9 loses only trials that are not yet committed. Trouble with the file goes to
/// the database's warning sink, and writing continues in memory. \p database must outlive the writer. Thread-safe.
class SessionWriter {
 public:
  SessionWriter(Database& database, SessionKey key, SessionSource source = {});
  /// Flushes. Without finish(), the session stays unfinished. Never throws.
  ~SessionWriter();
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;

  /// Throws CacheError for an unknown kind or an empty configuration, and then stores nothing.
  void add(const TrialRecord& trial);
  /// Returns when every trial added so far is committed.
  void flush();
  /// The stored best for this session's kernel source, problem, device and environment.
  std::optional<BestRecord> best();
  /// Makes \p configuration the best known for this session's kernel source, problem, device and environment. Throws
  /// CacheError unless this or an earlier session stored a verified, finished measurement of it for exactly these.
  void set_best(const std::string& configuration, const BestOrigin& origin = {});
  /// The stored best stays, and has \p effort from now on. Does nothing if it is not \p configuration any more.
  void set_effort(const std::string& configuration, const std::string& effort);
  /// Flushes and marks the session as finished. \p spent: SessionRecord::spent.
  void finish(std::string spent = {});
  const std::string& uuid() const { return record_.uuid; }

 private:
  std::vector<StoredTrial> trials_from(std::size_t first, std::size_t end);
  void commit(std::function<void()> also = {});
  bool commit_quietly() noexcept;
  void watch(const std::stop_token& stop);

  Store& store_;
  std::mutex committing_;  // one transaction at a time; locked before `mutex_`; guards the next two
  SessionRecord record_;
  bool session_known_ = false;
  std::mutex mutex_;  // guards the rest
  std::condition_variable_any changed_;
  std::vector<StoredTrial> history_;  // all trials of this writer
  std::size_t committed_ = 0;
  std::jthread watcher_;  // the last member: it stops before the others are destroyed
};

/// The trials of all sessions with this kernel (name, source, objective), device, problem, driver, compiler and
/// conditions, in the order they were stored; only the last trial of each configuration. A resumed tuning skips these
/// configurations. Damaged rows are left out with a warning.
std::vector<TrialRecord> finished_trials(Database& database, const SessionKey& key);

/// All trials of one session, in order, repeats included.
std::vector<TrialRecord> session_trials(Database& database, const std::string& uuid);

/// The sessions with the keys that finished_trials() compares, oldest first.
std::vector<SessionRecord> sessions_of(Database& database, const SessionKey& key);

}  // namespace tuner::cache
