#pragma once
/// Statistics of timing samples, and the choice of a winner by them. The median, its confidence interval by order
/// statistics, and noise by the median absolute deviation: none of them assumes a normal distribution, because timings
/// have long right tails.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tuner/core/result/outcome.hpp>

namespace tuner {

/// The median; the mean of the two middle values for an even count. NaN for no values.
double median(std::span<const double> values);

/// 1.4826 * median(|x - median|): the standard deviation if values are normal, but not affected by outliers. 0 for
/// fewer than two values.
double scaled_mad(std::span<const double> values);

/// The standard error of the mean of \p values: their standard deviation over the root of their number. 0 for fewer
/// than two values.
double standard_error(std::span<const double> values);

/// An interval that contains the true median with a probability of at least 95%.
struct MedianInterval {
  double low = 0;
  double high = 0;
};

/// The narrowest symmetric pair of order statistics whose coverage is at least 95% (David and Nagaraja, "Order
/// Statistics", 3rd ed., section 7.1). With up to 5 values no pair reaches that: then the interval is [min, max]. NaN
/// for no values.
MedianInterval median_interval(std::span<const double> values);

/// The rank, from 0, of the lower end of median_interval(): it is [x(rank), x(n - 1 - rank)] of sorted values.
std::size_t median_interval_rank(std::size_t n);

/// The resolution of the clock that measured \p values: the smallest step between different values, if some values
/// repeat. 0 if none repeats; \p when_equal if all (at least two) are equal.
double clock_step(std::span<const double> values, double when_equal);

/// A configuration that takes less than this part of the default's time is certainly faster.
inline constexpr double kClearLead = 0.8;
/// A smaller lead may result from the placement of code and data in memory. On an H200, the times of one short kernel
/// differed by this much after it was loaded again.
inline constexpr double kPlacementNs = 200;

/// The placements of code and data at which trials were measured side by side: the number of samples at each, in their
/// order. Empty: one placement, or trials that were not measured side by side.
using Placements = std::vector<std::size_t>;

/// One measurement of all samples of \p parts, which were taken at as many placements. Its interval contains the
/// medians of all of them, because the next process has another placement. The metric "placements" has their number;
/// other metrics are those of the first part that has them. Precondition: there are parts.
Measurement combined(std::span<const Measurement> parts);

/// Simplest first: fewest registers, then canonical text.
std::pair<int, std::string> simplicity(const Trial& trial);

/// The time of one trial over that of another, with its 95% interval.
struct TimeRatio {
  double ratio = 1, low = 1, high = 1;
};

/// The time of \p one over that of \p other: from the ratio of their medians at each of at least three placements
/// (Student's t). From their medians and intervals for fewer, and for trials that were not measured side by side.
TimeRatio compared_times(const Trial& one, const Trial& other, const Placements& placements = {});

/// How many times as long as \p fast \p slow takes at least: at each placement, and by the 95% interval over all
/// samples. Trials with the same Trial::round and the same number of samples are compared sample by sample, others by
/// their intervals.
double least_ratio(const Trial& fast, const Trial& slow, const Placements& placements = {});

/// Whether \p slow takes more time than \p fast: compared_times() at three placements or more lies above a tie, with a
/// confidence of 97.5%. False for trials that were not measured side by side.
bool is_slower(const Trial& slow, const Trial& fast, const Placements& placements);

struct DecideOptions {
  double min_lead_ns = 0;                      ///< of a placement; see decide()
  std::optional<std::size_t> default_at = {};  ///< position of the kernel's default among the finalists
  Placements placements = {};
};

struct Standings {
  std::size_t winner = 0;
  std::size_t fastest = 0;        ///< lowest median; another than the winner if a tie went to a simpler one
  std::vector<std::size_t> ties;  ///< all that are as fast as the fastest, except the winner; fastest first
};

/// Names a winner among measured trials. The fastest wins if it leads by more than the noise. Otherwise it is a tie.
/// The kernel's default wins a tie if it takes part in it, else the simplest configuration: the one with the fewest
/// registers, then the first in canonical text order. A configuration that is not ahead of the default never wins.
///
/// A lead of less than 0.2% is a tie, and one of more than 0.5% is none. Between them it is a tie if least_ratio() is
/// at most 1.002.
///
/// The fastest of several owes part of its lead to luck. Unless it takes less than kClearLead of the default's time, or
/// is_slower() says that the default is slower, it therefore has to lead the default by 0.2% at each placement. A lead
/// of less than DecideOptions::min_lead_ns must also be larger than its range over the placements; over a single one,
/// it is a tie with the default.
///
/// Throws std::invalid_argument if there are no \p finalists or one has no measurement.
Standings decide(std::span<const Trial> finalists, const DecideOptions& options = {});

}  // namespace tuner
