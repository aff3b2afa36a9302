#pragma once
/// What a page tells of one kernel, problem and device: every trial in order, what was named best, how it would be
/// served. Gathered from databases; measures nothing and knows no backend.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cache/browse.hpp>
#include <cache/database.hpp>
#include <cache/lookup.hpp>
#include <cache/records.hpp>

#include <tuner/explain/verdict.hpp>

namespace tuner::report {

/// A trial in its place.
struct PlacedTrial {
  cache::TrialRecord trial;
  double at_s = 0;     ///< seconds of tuning when it was stored; pauses between sessions do not count
  bool again = false;  ///< its configuration was measured before in the same session: a finalist
};

/// What is known of a kernel from its file, and of its device.
struct Amounts {
  std::optional<double> bytes;    ///< least traffic of one run
  std::optional<double> flops;    ///< of one run
  double written = 0.5;           ///< part of the bytes that is writes
  double arithmetic_ceiling = 0;  ///< operations/s that the device reached in the kernel's type; 0: not measured
  std::string default_configuration;
};

/// One kernel source and objective, one problem, one device, one driver and compiler, one way of measuring.
struct Tuning {
  cache::SessionKey key;                       ///< gathered: its device with the best that was seen of it by any tuning
  std::vector<cache::SessionRecord> sessions;  ///< oldest first; none for shipped results
  std::vector<PlacedTrial> trials;             ///< in order of time
  std::optional<cache::BestRecord> best;
  cache::WisdomMatch served;  ///< what a call for exactly this would be served with
  std::vector<cache::QuarantineRecord> quarantined;
  Amounts amounts;
  std::optional<Verdict> verdict;  ///< on the best
  std::string database;            ///< where it was found
  bool shipped = false;            ///< in a shipped one
};

/// The contents of databases.
struct Gathered {
  std::vector<Tuning> tunings;         ///< those with trials first, and the latest of them foremost
  std::vector<std::string> databases;  ///< that they are from
};

/// What matches \p filter: in the user's database, which comes first, or else in the shipped ones. Lookups ask all of
/// \p databases in their order. What is damaged is left out, with a warning of its database.
Gathered gather(std::span<cache::Database* const> databases, const cache::Filter& filter = {});

/// Appends \p trials of one session to \p tuning; \p begin_s: seconds of tuning before it.
void append_session(Tuning& tuning, std::vector<cache::TrialRecord> trials, std::int64_t started_ms, double begin_s);

}  // namespace tuner::report
