#pragma once
/// Reads `--metrics` and `--objective`.

#include <tuner/cli/input/options.hpp>
#include <tuner/core/result/objective.hpp>

namespace tuner::cli {

/// The names of metrics and sets in \p texts, split at commas. Sets are not expanded. Throws UsageError with a
/// suggestion for an unknown name, unless it looks like a chip's own (`unit__counter.roll_up`): only the chip knows
/// those.
std::vector<std::string> read_metrics(const std::vector<std::string>& texts, std::string_view option);

/// The values of `--objective`, as Objective names them. The first directs the search. Several are a trade-off: all are
/// collected for each trial. `energy`, `time,achieved_occupancy`; `max:NAME` and `min:NAME` say which end wins where a
/// metric's own does not: the largest of the textbook's shares and rates, the smallest of everything else. Throws
/// UsageError.
std::vector<std::string> read_objectives(std::string_view text);

/// A value of \p objective in its unit: `12us`, `3.2TB/s`, `87%`, `40mJ`, or a plain number. Throws UsageError.
double parse_metric(std::string_view text, std::string_view option, const Objective& objective);

}  // namespace tuner::cli
