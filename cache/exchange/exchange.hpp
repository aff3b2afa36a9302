#pragma once
/// Export and import of results: wisdom text for review, complete exports, and merging of databases.
///
/// Incoming data is not trusted. Dates in the future are rejected. So are best times that differ by a factor of
/// ten or more from a stored trial of the same configuration in the same context. A database may hold dates in the
/// future because this machine's clock was ahead: they are exported as today's date, and other measurements count as
/// later.
///
/// Two results for the same (kernel, problem, device, environment) are resolved the same way everywhere. The later
/// measurement wins, then more samples, then the lower median, then the order of their text. Merging is therefore
/// idempotent, commutative and associative. Sessions are united by uuid, trials by their number in the session.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>

namespace tuner::cache {

struct ImportCount {
  std::int64_t best = 0;  ///< new rows, and rows that replaced an older one
  std::int64_t sessions = 0;
  std::int64_t trials = 0;
  std::int64_t quarantined = 0;
  std::int64_t unchanged = 0;  ///< already known, or older than the stored row
};

/// Wisdom as JSON lines: a header line for each (device, environment), then one line for each best configuration.
/// Sorted: equal contents give equal text. Format: cache/README.md.
std::string export_wisdom(Database& database, const Filter& filter = {});
/// Exports everything in the same format: wisdom, sessions, trials with their samples, quarantine.
std::string export_all(Database& database, const Filter& filter = {});
/// Copies what lookups depend on: best configurations and quarantine. For each kernel source, problem and device it
/// copies only the result that a merge would keep, whatever software it was measured with, and none that is
/// quarantined. Leaves out what a merge of \p from would leave out, with a warning. \p into must be empty. Returns the
/// number of best configurations.
std::int64_t copy_for_freezing(Database& into, Database& from);
/// Imports both kinds of text, all or nothing. Throws ImportError with the line of the mistake, or CacheError for a
/// best time that contradicts a stored trial. \p source names the text in messages.
ImportCount import_text(Database& database, std::string_view text, const std::string& source = "import");

/// Larger databases are not merged.
inline constexpr std::int64_t kMaxMergedBytes = std::int64_t{256} << 20;
/// Adds everything in \p from, in one transaction. Leaves out rows of \p from that are damaged or contradict \p into,
/// with a warning. Throws CacheError when \p from is larger than \p limit bytes.
ImportCount merge(Database& into, Database& from, std::int64_t limit = kMaxMergedBytes);

}  // namespace tuner::cache
