#pragma once
/// Lists the contents of a database, for `tune show` and for people who maintain files.

#include <cstdint>
#include <string>
#include <vector>

#include <cache/database.hpp>
#include <cache/records.hpp>

namespace tuner::cache {

/// An empty field matches everything.
struct Filter {
  std::string kernel = {};
  std::string device_key = {};
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

struct Removed {
  std::int64_t best = 0, sessions = 0, trials = 0, quarantined = 0, misses = 0;
};
/// Removes everything stored for the kernels and devices that match \p filter, in one transaction.
Removed remove_results(Database& database, const Filter& filter);

struct Statistics {
  std::string path;  ///< ":memory:" when there is no file
  std::int64_t file_bytes = 0;
  std::int64_t free_bytes = 0;  ///< inside the file, reused before it grows
  int schema_version = 0;
  std::string sqlite_version;
  std::string journal_mode;  ///< "delete", "wal", "memory"
  std::string wal_state;     ///< why WAL is, or is not, in use
  bool read_only = false;
  bool in_memory = false;
  std::int64_t kernels = 0, devices = 0, environments = 0, problems = 0, configurations = 0, sessions = 0;
  std::int64_t unfinished_sessions = 0, trials = 0, failed_trials = 0, best = 0, quarantined = 0;
  std::int64_t misses = 0;
};
Statistics statistics(Database& database);

/// Checks everything: integrity_check, the checksum of each row, references, missing indices. Returns one sentence for
/// each finding; empty: the database is sound. Changes nothing. Takes seconds for large files.
std::vector<std::string> doctor(Database& database);

}  // namespace tuner::cache
