#pragma once
/// Shows metrics, objectives and trade-offs.

#include <tuner/cli/print/table.hpp>
#include <tuner/core/result/objective.hpp>

namespace tuner::cli {

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
