#pragma once
/// The contents of a page for one kernel, problem and device: all trials in order, the best, and how a call would be
/// served. Gathered from databases; measures nothing and needs no backend.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>
#include <cache/query/lookup.hpp>
#include <cache/records/stored_records.hpp>

#include <tuner/explain/verdict.hpp>

namespace tuner::report {

struct PlacedTrial {
  cache::TrialRecord trial;
  double at_s = 0;     ///< seconds of tuning until it was stored, without pauses between sessions
  bool again = false;  ///< a finalist: its configuration was measured before, in the search
};

/// Numbers of a kernel, from its file, and of its device.
struct Amounts {
  std::optional<double> bytes;    ///< least traffic of one run.
  std::optional<double> flops;    ///< of one run.
  double written = 0.5;           ///< the part of the bytes that is written.
  double arithmetic_ceiling = 0;  ///< operations/s that the device reached in the kernel's type; 0: not measured.
  std::string default_configuration;
};

/// One kernel source and objective, one problem, one device, one driver and compiler, one way of measuring.
struct Tuning {
  cache::SessionKey key;  ///< gather() gives its device the best rates that any tuning has measured.
  std::vector<cache::SessionRecord> sessions;  ///< oldest first; none for shipped results.
  std::vector<PlacedTrial> trials;             ///< in order of time.
  std::optional<cache::BestRecord> best;
  cache::WisdomMatch served;  ///< the result that serves a call for exactly this.
  std::vector<cache::QuarantineRecord> quarantined;
  Amounts amounts;
  std::optional<Verdict> verdict;  ///< on the best.
  std::string database;            ///< where it was found.
  bool shipped = false;            ///< found in a shipped database.
};

/// The contents of databases.
struct Gathered {
  std::vector<Tuning> tunings;         ///< those with trials first, and the latest first among these
  std::vector<std::string> databases;  ///< their sources
};

/// The tunings that match \p filter in the user's database, which comes first, or, if it has none, in the shipped ones.
/// Lookups ask all \p databases in their order. Damaged rows are left out, and their database warns.
Gathered gather(std::span<cache::Database* const> databases, const cache::Filter& filter = {});

/// Appends \p trials of one session to \p tuning; \p begin_s: seconds of tuning before it.
void append_session(Tuning& tuning, std::vector<cache::TrialRecord> trials, std::int64_t started_ms, double begin_s);

}  // namespace tuner::report
