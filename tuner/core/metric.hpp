#pragma once
/// The names under which metrics are asked for, stored and shown: the text-book's names (nvprof's, which CUDA's
/// literature still uses) with what a chip calls them today, and the sets that belong together. What a chip really has
/// only the chip tells: see Backend::collect(). A metric is a number of one configuration besides its time.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// A counter of a chip and what it counts for in a metric.
struct MetricTerm {
  /// Today's names, parted by blanks; the first that the chip has is taken.
  std::string_view counters;
  double factor = 1;
};

/// The kinds of number that a metric is; units are those in which values are stored.
enum class MetricUnit { percent, count, ratio, bytes, bytes_per_second, nanoseconds, joules, watts, joule_seconds };
/// "%", "", "", "B", "B/s", "ns", "J", "W", "J s".
std::string_view symbol(MetricUnit unit);

/// Where a metric comes from.
enum class MetricSource {
  counters,  ///< of the chip
  sensor,    ///< the card's energy sensor
  outputs,   ///< a comparison of what the kernel wrote with what was expected: any backend has it
};

/// A metric that is known by a name of its own. One of the counters is the sum of its terms; the others have none.
struct NamedMetric {
  std::string_view name;
  MetricUnit unit;
  std::string_view meaning;
  std::span<const MetricTerm> terms;
  bool larger_is_better = false;  ///< as an objective
  MetricSource source = MetricSource::counters;
};
/// In the order in which people read them.
std::span<const NamedMetric> named_metrics();
/// Null for a name that is not in the table: it may be the chip's own.
const NamedMetric* find_metric(std::string_view name);
/// Where \p name comes from: a name that is not in the table can only be a counter of the chip.
MetricSource source_of(std::string_view name);

/// Metrics that answer one question together.
struct MetricSet {
  std::string_view name, meaning;
  std::span<const std::string_view> metrics;
};
std::span<const MetricSet> metric_sets();
const MetricSet* find_metric_set(std::string_view name);

/// \p names with sets replaced by their metrics, each metric once.
std::vector<std::string> expand_metrics(std::span<const std::string> names);

}  // namespace tuner
