#pragma once
/// Results in and out: reviewable wisdom text, complete exports, and merging of databases.
///
/// What comes in is a stranger's word: a best time that is ten times less or more than what a stored trial of the same
/// configuration took in the same context is not taken over, nor is a date in the future. What a database has with one
/// got it while a clock was ahead: it is told with today's date, and any other measurement counts as later.
///
/// Two results for the same (kernel, problem, device, environment) are resolved the same way everywhere: the later
/// measurement wins, then more samples, then the lower median, then the order of their text. So merging is
/// idempotent, commutative and associative. Sessions are united by their uuid, trials by their place in it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <cache/browse.hpp>
#include <cache/database.hpp>

namespace tuner::cache {

struct ImportCount {
  std::int64_t best = 0;  ///< rows that are new or replaced an older one
  std::int64_t sessions = 0;
  std::int64_t trials = 0;
  std::int64_t quarantined = 0;
  std::int64_t unchanged = 0;  ///< known already, or older than what is there
};

/// Wisdom as JSON lines: a header line for each (device, environment), then one line for each best configuration,
/// sorted; equal contents give equal text. Format: cache/README.md.
std::string export_wisdom(Database& database, const Filter& filter = {});
/// Everything: wisdom, sessions, trials with their samples, quarantine. The same kind of text.
std::string export_all(Database& database, const Filter& filter = {});
/// Copies what lookups depend on, for one answer everywhere: best configurations and quarantine. Of results for the
/// same problem, kernel source and device with different software the one that a merge would keep; none that is
/// quarantined. \p into is empty. Returns the number of best configurations.
std::int64_t copy_for_freezing(Database& into, Database& from);
/// Each kind of text, told apart by the lines. All or nothing: throws ImportError with the line, and nothing is
/// imported then. \p source names the text in messages.
ImportCount import_text(Database& database, std::string_view text, const std::string& source = "import");

/// Written through a temporary file; compressed when the name ends in `.gz`. Throws CacheError, and then there is no
/// new file and the old one is as it was. Replaces nothing but a regular file that is no database: whether that may go
/// is for the caller to ask.
void write_text(const std::filesystem::path& file, std::string_view text);
/// A longer text, after decompression, is refused.
inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;
/// Plain or gzip, whatever the name; a regular file. Throws CacheError.
std::string read_text(const std::filesystem::path& file, std::size_t limit = kMaxTextBytes);

/// A larger database is not merged.
inline constexpr std::int64_t kMaxMergedBytes = std::int64_t{256} << 20;
/// Takes over everything in \p from, in one transaction; rows of \p from that are damaged or contradict what is known
/// are left out with a warning. Throws CacheError when \p from is larger than \p limit bytes.
ImportCount merge(Database& into, Database& from, std::int64_t limit = kMaxMergedBytes);

}  // namespace tuner::cache
