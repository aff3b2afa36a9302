#pragma once
/// Records to rows and back, with their checksums. Everything here runs inside Store::read() or Store::write().
/// Private to this room.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cache/fields.hpp>
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

// `SELECT … FROM …` of whole records, to be followed by conditions. The columns are read by take() in their order, and
// what is selected after them by the caller. Tables: d, e, k, p, c for identities.
/// `… , b.crc` of best b, without FROM.
const std::string& best_columns();
const std::string& select_best();
/// Of session s, with the number of its trials.
const std::string& select_sessions();
/// Of trial t in session s.
const std::string& select_trials();
/// Of quarantine q.
const std::string& select_quarantine();

// Each reads a record and its checksum; false when that is wrong.
bool take(Query& row, BestRecord& best);
bool take(Query& row, SessionRecord& session);
bool take(Query& row, StoredTrial& trial);
bool take(Query& row, QuarantineRecord& record);

/// All records of \p row that are sound; warns of the others.
template <class Record>
std::vector<Record> take_sound(Store& store, Query&& row);

/// Adds or replaces the best of its (kernel, device, problem, environment).
void put_best(Statements& store, BestRecord best);
/// The id of the session with this uuid, added when it is not there.
std::int64_t ensure_session(Statements& store, SessionRecord session, bool* added = nullptr);
/// False when the session has a trial of this number already.
bool put_trial(Statements& store, std::int64_t session_id, const StoredTrial& trial);
/// False when the same, or an earlier one, is there: the earliest report stays, so that the order of merging does not
/// matter.
bool put_quarantine(Statements& store, const QuarantineRecord& record);

/// The undamaged trials of a session, in order; warns of the others.
std::vector<StoredTrial> stored_trials(Store& store, const std::string& uuid);

/// One warning for all damaged rows of a file.
void warn_of_damaged_rows(Store& store);

template <class Record>
std::vector<Record> take_sound(Store& store, Query&& row) {
  std::vector<Record> found;
  while (row.next()) {
    Record record;
    if (take(row, record)) {
      found.push_back(std::move(record));
    } else {
      warn_of_damaged_rows(store);
    }
  }
  return found;
}

}  // namespace tuner::cache
