#pragma once
/// Reads `--metrics` and `--objective`, and shows metrics.

#include <tuner/cli/table.hpp>
#include <tuner/core/objective.hpp>

namespace tuner::cli {

/// The names of metrics and sets in \p texts, split at commas. Sets are not expanded. Throws UsageError with a
/// suggestion for an unknown name, unless it looks like a chip's own (`unit__counter.roll_up`): only the chip knows
/// those.
std::vector<std::string> read_metrics(const std::vector<std::string>& texts, std::string_view option);

/// The values of `--objective`, as Objective names them. The first directs the search. Several are a trade-off: all are
/// collected for each trial. `energy`, `time,achieved_occupancy`; `max:NAME` and `min:NAME` say which end wins where a
/// metric's own does not: the largest of the text-book's shares and rates, the smallest of everything else. Throws
/// UsageError.
std::vector<std::string> read_objectives(std::string_view text);

/// A value of \p objective in its unit: `12us`, `3.2TB/s`, `87%`, `40mJ`, or a plain number. Throws UsageError.
double parse_metric(std::string_view text, std::string_view option, const Objective& objective);

/// `87.2%`, `3.21 TB/s`, `43.2 mJ`: \p value of \p metric in its unit; a plain number for the chip's own.
std::string format_metric(std::string_view metric, double value);
Cell metric_cell(std::string_view metric, double value);
/// The name of an objective. People see it only where it is not time.
Cell objective_cell(const std::string& objective);
/// A line for each of \p names that \p metrics has: name, value and, if tuner names it, its meaning.
std::vector<std::string> metric_list(const std::vector<std::string>& names,
                                     const std::map<std::string, double>& metrics);

/// The Pareto front: the trials that no other equals or beats in all of \p objectives, sorted by the first objective.
/// Only verified measurements that have all objectives take part.
std::vector<const Trial*> pareto_front(const std::vector<Trial>& trials, const std::vector<std::string>& objectives);
/// The front as a table, with a line of explanation.
std::string pareto_table(const std::vector<Trial>& trials, const std::vector<std::string>& objectives);

}  // namespace tuner::cli
