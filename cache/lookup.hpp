#pragma once
/// Finds the best known configuration for a problem on a device and says how it was found. Takes about 0.1 ms,
/// Tier::portable 1 ms, however many results there are. Callers keep a table of their own in front of it.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cache/database.hpp>
#include <cache/records.hpp>

namespace tuner::cache {

/// In falling order of trust; a lower tier is looked at only when no database answers a higher one.
enum class Tier {
  exact,           ///< same source, device, driver, compiler and problem
  stale,           ///< same device and problem; the driver, the compiler or the kernel's source has changed since
  nearest_size,    ///< same device; each size within a factor of two, smallest sum of |log2 ratio|
  similar_device,  ///< same backend and compute capability, nearest SM count; sizes equal or nearest as above
  portable,        ///< same backend, any device and sizes: what is best most often, among the 128 nearest results
  fallback,        ///< nothing found: the caller uses its default
};
/// "exact", "stale", "nearest size", "similar device", "portable", "default".
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
  std::string database;  ///< path of the file that answered; ":memory:" when there is none
  bool shipped = false;  ///< from a shipped database
  /// What was measured, with the device, sizes and environment of that measurement. Absent for Tier::fallback.
  std::optional<BestRecord> best;
  std::vector<RejectedCandidate> rejected;  ///< better candidates that could not be used, in order

  explicit operator bool() const { return best.has_value(); }
};

/// Says why a configuration cannot be used for the query's problem on its device; nullopt when it can. Asked at every
/// tier: what comes from a file is data, not a promise.
using Accept = std::function<std::optional<std::string>(const std::string& configuration)>;

/// \p databases in order of preference (the user's first, then shipped ones): within a tier the earlier one wins.
/// Within a tier and a database, results for the same source come first. Configurations quarantined on this device
/// in any of the databases are rejected. Rows with a bad checksum are skipped with a warning. Never throws for the
/// contents of a database.
/// \p around (empty: the query's own): sizes within a factor of two of the query's. Where nothing is known for the
/// query's own sizes, the answer is what is best known for these, so that all problems with the same \p around agree.
WisdomMatch lookup(const Context& query, std::span<Database* const> databases, const Accept& accept = {},
                   const Sizes& around = {});

/// Sizes that have a result of their own on the query's device, whatever the driver, the compiler and the kernel's
/// source were then: each from that of the query on, and within a factor of two.
std::vector<Sizes> measured_sizes(const Context& query, Database& database);

}  // namespace tuner::cache
