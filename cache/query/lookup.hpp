#pragma once
/// Finds the best known configuration for a problem on a device and explains the choice. Only results of the kernel's
/// present source are used: nothing proves the others right for it. Takes about 0.1 ms,
/// Tier::portable 1 ms, with any number of results. Callers keep their own table in front of it.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cache/query/database.hpp>
#include <cache/records/stored_records.hpp>

namespace tuner::cache {

/// In falling order of trust. A lower tier is searched only when no database answers a higher one.
enum class Tier {
  exact,  ///< same device, driver, compiler and problem
  stale,  ///< same device and problem; the driver or the compiler has changed

  rule,  ///< same device; a stored rule names this configuration for the sizes, and was measured as lately

  nearest_size,    ///< same device; each size within a factor of two, smallest sum of |log2 ratio|
  similar_device,  ///< same backend and compute capability, nearest SM count; sizes equal or nearest as above

  portable,  ///< same backend, any device and sizes: the most frequent best configuration of the 128 nearest
             ///< results
  fallback,  ///< nothing was found: the caller uses its default
};
/// "exact", "stale", "rule", "nearest size", "similar device", "portable", "default".
std::string_view name(Tier tier);

struct RejectedCandidate {
  Tier tier = Tier::exact;
  std::string configuration;
  std::string database;
  std::string reason;
};

struct WisdomMatch {
  Tier tier = Tier::fallback;
  std::string reason;    ///< one sentence for people
  std::string database;  ///< path of the file that answered; ":memory:" when none did
  bool shipped = false;  ///< from a shipped database
  /// The measured result, with its own device, sizes and environment. Absent for Tier::fallback.
  std::optional<BestRecord> best;
  std::vector<RejectedCandidate> rejected;  ///< better candidates that could not be used, in order
  /// Why a database could not be asked now; empty: all were asked. The database may have a better answer, or forbid
  /// this one: use it for now, do not store it, and ask again.
  std::string unavailable;

  explicit operator bool() const { return best.has_value(); }
};

/// Returns why a configuration cannot be used for the query's problem on its device; nullopt when it can. Called at
/// every tier, because the contents of a file are not trusted.
using Accept = std::function<std::optional<std::string>(const std::string& configuration)>;
/// Returns why results that were measured for \p sizes say nothing about the query's sizes; nullopt when they do.
using Applies = std::function<std::optional<std::string>(const Sizes& sizes)>;

/// The choice of a rule (BestRecord::rule) for some sizes.
struct RuleChoice {
  std::string configuration;
  std::string condition;  ///< why this one, for people
};
/// How rules answer. A result with a rule answers if the rule names its configuration for the query's sizes.
struct Rules {
  /// nullopt if \p rule says nothing about \p sizes. Empty: rules are not asked.
  std::function<std::optional<RuleChoice>(const std::string& rule, const Sizes& sizes)> read = {};
  /// Results for sizes from `around` up to these come before rules: all these sizes get the same answer. Empty: none
  /// do.
  Sizes class_end = {};
};

/// \p databases are in order of preference: the user's first, then shipped ones. Within a tier, the earlier database
/// wins. Configurations that any database quarantines on
/// this device are rejected. Skips rows with a wrong checksum, with a warning. Never throws because of a database's
/// contents, and never Unavailable: see WisdomMatch::unavailable.
///
/// \p around: sizes within a factor of two of the query's; empty: the query's own. They are used when nothing is known
/// for the query's own sizes, so that all problems with the same \p around get the same answer.
WisdomMatch lookup(const Context& query, std::span<Database* const> databases, const Accept& accept = {},
                   const Sizes& around = {}, const Applies& applies = {}, const Rules& rules = {});

/// Sizes with a result of the query's source on its device, measured with any driver and compiler. Each size is
/// between that of the query and that of \p most, which is at most twice as large. nullopt when they are among more
/// than \p limit rows, which would take long to read.
std::optional<std::vector<Sizes>> measured_sizes(const Context& query, const Sizes& most, std::size_t limit,
                                                 Database& database);

}  // namespace tuner::cache
