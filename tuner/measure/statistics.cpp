#include <tuner/measure/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tuner {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

double middle(const std::vector<double>& ordered) {
  const std::size_t n = ordered.size();
  if (n == 0) return kNan;
  return n % 2 == 1 ? ordered[n / 2] : (ordered[n / 2 - 1] + ordered[n / 2]) / 2;
}

/// P(Binomial(n, 1/2) = k), in logarithms because 2^-n underflows.
double binomial_half(std::size_t n, std::size_t k) {
  return std::exp(std::lgamma(double(n) + 1) - std::lgamma(double(k) + 1) - std::lgamma(double(n - k) + 1) -
                  double(n) * std::log(2.0));
}

}  // namespace

double median(std::span<const double> values) { return middle(sorted(values)); }

double scaled_mad(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double centre = median(values);
  std::vector<double> deviations(values.begin(), values.end());
  for (double& value : deviations) value = std::abs(value - centre);
  return 1.4826 * median(deviations);
}

std::size_t median_interval_rank(std::size_t n) {
  // [x(r), x(n-1-r)] misses the median when at most r of the n values lie on one side of it: 2 * P(B <= r).
  if (n < 3) return 0;
  std::size_t rank = 0;
  double below = binomial_half(n, 0);
  while (2 * (rank + 1) + 1 < n) {
    below += binomial_half(n, rank + 1);
    if (1 - 2 * below < 0.95) break;
    ++rank;
  }
  return rank;
}

MedianInterval median_interval(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n == 0) return {kNan, kNan};
  const std::vector<double> ordered = sorted(values);
  const std::size_t rank = median_interval_rank(n);
  return {ordered[rank], ordered[n - 1 - rank]};
}

double clock_step(std::span<const double> values, double when_equal) {
  if (values.size() < 2) return 0;
  const std::vector<double> ordered = sorted(values);
  double step = std::numeric_limits<double>::infinity();
  bool repeats = false;
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    const double gap = ordered[i] - ordered[i - 1];
    // Times were floats in milliseconds: smaller gaps are rounding errors.
    if (gap <= 1e-6 * ordered[i])
      repeats = true;
    else
      step = std::min(step, gap);
  }
  if (!repeats) return 0;
  return std::isinf(step) ? when_equal : step;
}

}  // namespace tuner
