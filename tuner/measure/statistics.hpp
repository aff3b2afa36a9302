#pragma once
/// Statistics of timing samples: the median, its confidence interval by order statistics, and noise by the median
/// absolute deviation. None of them assumes a normal distribution, because timings have long right tails.

#include <cstddef>
#include <span>

namespace tuner {

/// The median; the mean of the two middle values for an even count. NaN for no values.
double median(std::span<const double> values);

/// 1.4826 * median(|x - median|): the standard deviation if values are normal, but not affected by outliers. 0 for
/// fewer than two values.
double scaled_mad(std::span<const double> values);

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

}  // namespace tuner
