#pragma once
/// Writes the trials of one tuning as they happen and reads them back when it is resumed. Not a strategy and not a
/// measurement: it only makes sure that nothing acknowledged is lost.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cache/database.hpp>
#include <cache/records.hpp>

namespace tuner::cache {

/// Who measures, and in what order.
struct SessionSource {
  std::string strategy = {};
  std::uint64_t seed = 0;
  std::string origin = "tune";  ///< "tune", "first use"
};

/// Trials are committed by a thread of the writer's own, as many at a time as came while the last commit waited for the
/// disk: adding never waits, and a kill -9 loses at most those. Trouble with the file is reported through the
/// database's warning sink and writing goes on in memory. \p database must outlive the writer. Safe to use from several
/// threads.
class SessionWriter {
 public:
  SessionWriter(Database& database, SessionKey key, SessionSource source = {});
  /// Flushes; leaves the session unfinished unless finish() was called. Never throws.
  ~SessionWriter();
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;

  /// Throws CacheError for a kind that does not exist or an empty configuration; nothing is stored then.
  void add(const TrialRecord& trial);
  /// Returns when every trial added so far is committed.
  void flush();
  /// Makes \p configuration the best known for this session's kernel source, problem, device and environment,
  /// replacing an earlier one. Throws CacheError unless a verified, finished measurement of it is stored for exactly
  /// these (by this session or an earlier one): nothing unmeasured is ever best.
  void set_best(const std::string& configuration);
  /// Flushes and marks the session as finished.
  void finish();
  const std::string& uuid() const;
  /// Trials committed so far.
  std::size_t committed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The trials of all sessions with this kernel (name, source, objective), device, problem, driver, compiler and
/// conditions, in the order they were stored; the last one of each configuration only. A resumed tuning skips these
/// configurations. Damaged rows are left out with a warning.
std::vector<TrialRecord> finished_trials(Database& database, const SessionKey& key);

/// All trials of one session, in order, repeats included.
std::vector<TrialRecord> session_trials(Database& database, const std::string& uuid);

/// The last session with the same key as finished_trials(), if there is one.
std::optional<SessionRecord> last_session(Database& database, const SessionKey& key);

}  // namespace tuner::cache
