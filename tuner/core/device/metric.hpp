#pragma once
/// The names of metrics. A metric is a number of one configuration besides its time. The names are those of nvprof,
/// which CUDA's textbooks still use; each is mapped to the chip's counters of today. Sets group metrics that belong
/// together. Only the chip itself knows which counters it has: see Backend::collect().

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// A counter of a chip, and its factor in the sum that makes a metric.
struct MetricTerm {
  /// Names of the counter, separated by blanks; the first that the chip has is used.
  std::string_view counters;
  double factor = 1;
};

/// The unit in which the values of a metric are stored.
enum class MetricUnit { percent, count, ratio, bytes, bytes_per_second, nanoseconds, joules, watts, joule_seconds };
/// "%", "", "", "B", "B/s", "ns", "J", "W", "J s".
std::string_view symbol(MetricUnit unit);

/// The origin of a metric.
enum class MetricSource {
  counters,  ///< counters of the chip
  sensor,    ///< the card's energy sensor
  outputs,   ///< comparing the outputs with the expected ones, on any backend
};

/// A metric with a name of ours. A metric of counters is the sum of its terms; others have no terms.
struct NamedMetric {
  std::string_view name;
  MetricUnit unit;
  std::string_view meaning;
  std::span<const MetricTerm> terms;
  bool larger_is_better = false;  ///< as an objective
  MetricSource source = MetricSource::counters;
};
/// In the order in which they are shown.
std::span<const NamedMetric> named_metrics();
/// Null if \p name is not in the table; it may be a counter of the chip.
const NamedMetric* find_metric(std::string_view name);
/// The origin of \p name. A name that is not in the table can only be a counter of the chip.
MetricSource source_of(std::string_view name);

/// Metrics that together answer one question.
struct MetricSet {
  std::string_view name, meaning;
  std::span<const std::string_view> metrics;
};
std::span<const MetricSet> metric_sets();
const MetricSet* find_metric_set(std::string_view name);

/// \p names with sets replaced by their metrics; each metric occurs once.
std::vector<std::string> expand_metrics(std::span<const std::string> names);

}  // namespace tuner
