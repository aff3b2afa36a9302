#pragma once
/// Lists the contents of a database, for `tune show` and for people who maintain files; remembers misses.

#include <cstdint>
#include <string>
#include <vector>

#include <cache/query/database.hpp>
#include <cache/records/stored_records.hpp>

namespace tuner::cache {

/// An empty field matches everything.
struct Filter {
  std::string kernel = {};
  std::string device_key = {};
  std::string source = {};  ///< of the kernel: its source_hash
};

struct KernelSummary {
  KernelRecord kernel;
  std::int64_t problems = 0;  ///< with a best configuration
  std::int64_t sessions = 0;
  std::int64_t trials = 0;
};

/// Sorted by name, then source hash.
std::vector<KernelSummary> kernels(Database& database);
/// Sorted by device, environment, kernel, choices and sizes (by number).
std::vector<BestRecord> best_rows(Database& database, const Filter& filter = {});
/// Returns a text that changes whenever a best row or a quarantined configuration is added, changed or removed. Cheap.
std::string results_stamp(Database& database);
/// Newest first.
std::vector<SessionRecord> sessions(Database& database, const Filter& filter = {});

/// Configurations that crashed or hung their process, sorted by device, kernel, problem and configuration.
std::vector<QuarantineRecord> quarantined(Database& database, const Filter& filter = {});
/// Whether anything that matches \p filter is quarantined.
bool has_quarantined(Database& database, const Filter& filter);
/// Allows the quarantined configurations that match \p filter to be tried and served again; with \p configuration, only
/// that one. Returns how many there were.
std::int64_t lift_quarantine(Database& database, const Filter& filter, const std::string& configuration = {});

// ---- misses --------------------------------------------------------------------------------------------------------
// A miss is a call that was served without a result for its problem. It is remembered until the problem is tuned.
// Misses describe the use of one machine and are neither exported nor merged.

/// The largest number of misses in a database; those not seen for longest are dropped.
inline constexpr std::int64_t kMaxMisses = 10'000;

/// Adds the calls of \p counted to the stored ones of the same problems. Leaves out problems that have a result by now,
/// and records that may not be stored. Throws CacheError for a database that cannot be written.
void remember_misses(Database& database, const std::vector<MissRecord>& counted);

/// The misses of problems without a result in \p database, or whose last tuning was cut short. Sorted by time spent,
/// then by calls, highest first.
std::vector<MissRecord> misses(Database& database, const Filter& filter = {});

/// Forgets the misses that match \p filter, or only \p miss. Returns how many there were.
std::int64_t forget_misses(Database& database, const Filter& filter);
std::int64_t forget_miss(Database& database, const MissRecord& miss);

struct Removed {
  std::int64_t best = 0, sessions = 0, trials = 0, quarantined = 0, misses = 0;
};
/// Removes everything stored for the kernels and devices that match \p filter, in one transaction.
Removed remove_results(Database& database, const Filter& filter);

/// How many records of each kind a database holds.
struct Counts {
  std::int64_t kernels = 0, devices = 0, problems = 0, sessions = 0;
  std::int64_t unfinished_sessions = 0, trials = 0, failed_trials = 0, best = 0, quarantined = 0;
  std::int64_t misses = 0;
};
struct Statistics : Counts {
  std::string path;  ///< ":memory:" when there is no file
  std::int64_t file_bytes = 0;
  std::int64_t free_bytes = 0;  ///< inside the file, reused before it grows
  int schema_version = 0;
  std::string sqlite_version;
  std::string journal_mode;  ///< "delete", "memory"
};
Statistics statistics(Database& database);

/// Checks everything: integrity_check, the checksum of each row, references, tables and indices. Returns one sentence
/// for each finding; empty: the database is sound. Changes nothing. Takes seconds for large files.
std::vector<std::string> doctor(Database& database);

}  // namespace tuner::cache
