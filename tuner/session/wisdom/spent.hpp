#pragma once
/// The effort of a finished session, as databases store it. A later request compares its own limits with it.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <cache/records/stored_records.hpp>

#include <tuner/core/result/effort.hpp>

namespace tuner {

struct Spent {
  Budget limits;          ///< those that the session was given
  double seconds = 0;     ///< how long it searched
  std::size_t valid = 0;  ///< configurations of its space; 0: unknown

  bool nothing_left = false;              ///< its strategy had nothing more to propose
  bool part = false;                      ///< it searched a part of the space, and does not answer for the whole
  std::vector<std::string> remarks = {};  ///< Evaluator::remarks()
};

/// A JSON object (cache::SessionRecord::spent).
std::string text(const Spent& spent);
/// Inverse of text(). Members that are missing or have another type are unknown.
Spent parse_spent(const std::string& text);

/// Whether a search with the limits \p before went at least as far as \p now asks for: \p now has each of these limits,
/// and it is not larger. A harder target is a larger limit.
bool covers(const Budget& before, const Budget& now, const Objective& objective);

/// The highest effort whose search would have ended by then: \p spent has its limits, or larger ones, or took its time.
Effort effort_of(const Spent& spent, bool is_gpu, const Objective& objective);

/// The effort that a database stores with a result. A result without one is of `normal` effort: shipped results are,
/// and those of other programs may be.
Effort stored_effort(const cache::BestRecord& best);

}  // namespace tuner
