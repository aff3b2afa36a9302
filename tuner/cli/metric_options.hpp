#pragma once
/// `--metrics`, `--metrics-for` and objectives other than time: what people type, and how metrics are shown.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/cli/table.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner::cli {

/// Names of metrics and sets out of \p texts, split at commas, sets kept. Throws UsageError with a suggestion for what
/// is neither and does not look like a chip's own name (`unit__counter.roll_up`): only a chip can tell about those.
std::vector<std::string> read_metrics(const std::vector<std::string>& texts, std::string_view option);

/// What `--objective` asks for, as Objective names it. Several are a trade-off: the first directs the search, and all
/// are known of each trial.
struct ObjectiveChoice {
  std::string name = "time";
  std::vector<std::string> trade_off;  ///< empty unless there are several
};
/// `energy`, `time,achieved_occupancy`; `max:NAME` and `min:NAME` say which end wins where a metric's own does not: the
/// largest of the text-book's shares and rates, the smallest of everything else. Throws UsageError.
ObjectiveChoice read_objective(std::string_view text);

/// `87.2%`, `3.21 TB/s`, `43.2 mJ`: \p value of \p metric in its unit; a plain number for the chip's own.
std::string format_metric(std::string_view metric, double value);
Cell metric_cell(std::string_view metric, double value);
/// A line for each of \p names that \p metrics has: name, value and, of those with a name of their own, what it is.
std::vector<std::string> metric_list(const std::vector<std::string>& names,
                                     const std::map<std::string, double>& metrics);

/// The trials of \p trials that no other is better than or equal to in each of \p objectives, best in the first first.
/// Only verified measurements that know all of them take part.
std::vector<const Trial*> pareto_front(const std::vector<Trial>& trials, const std::vector<std::string>& objectives);
/// The front as a table with a line about it, for people.
std::string pareto_table(const std::vector<Trial>& trials, const std::vector<std::string>& objectives);

}  // namespace tuner::cli
