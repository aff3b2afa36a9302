#pragma once
/// Records to rows and back, with their checksums. Everything here runs inside Store::read() or Store::write().
/// Private to this room.

#include <cstdint>
#include <optional>
#include <string>

#include <cache/records.hpp>
#include <cache/store.hpp>

namespace tuner::cache {

/// log2 as stored in problem.log2_first: -2 for 0, and 0 without sizes.
double log2_first(const Sizes& sizes);

// Each finds the row or adds it, and returns its id.
/// Sets the numbers of \p device to the stored ones: the first description of a device stays.
std::int64_t ensure_device(Statements& store, DeviceRecord& device);
std::int64_t ensure_environment(Statements& store, const EnvironmentRecord& environment);
std::int64_t ensure_kernel(Statements& store, const KernelRecord& kernel);
std::int64_t ensure_problem(Statements& store, const ProblemRecord& problem);
std::int64_t ensure_configuration(Statements& store, const std::string& text);

/// The same ids without adding; nullopt when there is no such row.
std::optional<std::int64_t> find_device(Statements& store, const std::string& key);
std::optional<std::int64_t> find_kernel(Statements& store, const KernelRecord& kernel);
std::optional<std::int64_t> find_problem(Statements& store, const ProblemRecord& problem);

std::int64_t checksum(const BestRecord& best);
std::int64_t checksum(const SessionRecord& session);

/// Whose a row of best or session is, of the tables k, d, e, p: what both lists of columns begin with.
#define TUNER_CACHE_IDENTITY_COLUMNS                                                                             \
  "k.name, k.source_hash, k.objective, d.key, d.name, d.backend, d.compute_capability, d.sm_count, d.l2_bytes, " \
  "d.bus_bits, d.max_shared_bytes, d.registers_per_sm, d.properties, e.driver, e.compiler, e.tuner, e.os, "      \
  "p.choices, p.sizes, "

/// The columns that best_from() reads, in its order, of the tables b, d, e, k, p, c.
#define TUNER_CACHE_BEST_COLUMNS \
  TUNER_CACHE_IDENTITY_COLUMNS   \
  "c.text, b.median_ns, b.low_ns, b.high_ns, b.relative_noise, b.samples, b.measured_ms, b.crc"
/// nullopt when the checksum is wrong.
std::optional<BestRecord> best_from(Query& row);
/// Adds or replaces the best of its (kernel, device, problem, environment).
void put_best(Statements& store, BestRecord best);

#define TUNER_CACHE_SESSION_COLUMNS \
  TUNER_CACHE_IDENTITY_COLUMNS      \
  "s.uuid, s.conditions, s.strategy, s.seed, s.origin, s.started_ms, s.finished_ms, s.crc, s.id"
/// Column of s.id in the above.
inline constexpr int kSessionIdColumn = 27;
std::optional<SessionRecord> session_from(Query& row);
/// The id of the session with this uuid, added when it is not there.
std::int64_t ensure_session(Statements& store, SessionRecord session, bool* added = nullptr);

#define TUNER_CACHE_TRIAL_COLUMNS                                                                                    \
  "t.seq, c.text, t.kind, t.message, t.log, t.samples, t.median_ns, t.low_ns, t.high_ns, t.relative_noise, t.cold, " \
  "t.throttled, t.converged, t.abandoned, t.verified, t.clock_mhz, t.metrics, t.times, t.resources, t.created_ms, "  \
  "t.crc"
struct StoredTrial {
  std::string session;  ///< uuid
  std::int64_t seq = 0;
  TrialRecord trial;
};
/// nullopt when the checksum is wrong. \p uuid: of the session.
std::optional<StoredTrial> trial_from(Query& row, const std::string& uuid);
/// False when the session has a trial of this number already.
bool put_trial(Statements& store, std::int64_t session_id, const StoredTrial& trial);

void put_quarantine(Statements& store, const QuarantineRecord& record);

/// One warning for all damaged rows of a file.
void warn_of_damaged_rows(Store& store);

}  // namespace tuner::cache
