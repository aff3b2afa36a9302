#pragma once
/// Distribution-free statistics of timing samples: median, its confidence interval by order statistics, noise by the
/// median absolute deviation. Nothing here assumes a normal distribution: timings have long right tails.

#include <cstddef>
#include <span>

namespace tuner {

/// The median; the mean of the two middle values for an even count. NaN for no values.
double median(std::span<const double> values);

/// 1.4826 * median(|x - median|): the standard deviation where values are normal, unmoved by outliers. 0 for fewer
/// than two values.
double scaled_mad(std::span<const double> values);

/// An interval that contains the true median with probability \p confidence or more.
struct MedianInterval {
  double low = 0;
  double high = 0;
  double confidence = 0;  ///< achieved: 1 - 2 * P(Binomial(n, 1/2) < rank)
};

/// The narrowest symmetric pair of order statistics whose coverage is at least \p confidence (David and Nagaraja,
/// "Order Statistics", 3rd ed., section 7.1). Up to 5 values no pair reaches 95%: then it is [min, max] and the
/// achieved confidence says so. {NaN, NaN, 0} for no values.
MedianInterval median_interval(std::span<const double> values, double confidence = 0.95);

/// 0-based rank of the lower end used by median_interval(): [x(rank), x(n - 1 - rank)] of sorted values.
std::size_t median_interval_rank(std::size_t n, double confidence = 0.95);

/// Smallest step between different values where some values repeat: the resolution of the clock behind \p values.
/// 0 when no value repeats; \p when_equal when all of them (at least two) are equal.
double clock_step(std::span<const double> values, double when_equal);

}  // namespace tuner
