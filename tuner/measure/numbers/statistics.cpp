#include <tuner/measure/numbers/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace tuner {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::ranges::sort(result);
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

constexpr double kMinLead = 0.002;  // a smaller relative lead of the median is always a tie
constexpr double kMaxLoss = 0.01;   // a larger one is never a tie

const Measurement& measured(const Trial& trial) {
  const Measurement* measurement = trial.measurement();
  if (measurement == nullptr)
    throw std::invalid_argument("decide: no measurement of " + trial.configuration.text() + " (" +
                                std::string(kind(trial.outcome)) + ")");
  return *measurement;
}

/// Simplest first.
std::pair<int, std::string> simplicity(const Trial& trial) {
  return {trial.resources ? trial.resources->registers : std::numeric_limits<int>::max(), trial.configuration.text()};
}

bool tie(const Trial& first, const Trial& second, const DecideOptions& options) {
  const Measurement &fastest = measured(first), &other = measured(second);
  const double least = std::max(kMinLead, options.min_lead_ns / fastest.median_ns);
  if (other.median_ns > fastest.median_ns * (1 + std::max(kMaxLoss, least))) return false;
  if (other.median_ns <= fastest.median_ns * (1 + least)) return true;
  const std::size_t n = fastest.samples_ns.size();
  const bool in_pairs = first.round != 0 && first.round == second.round;
  if (!in_pairs || n < 2 || n != other.samples_ns.size()) return other.low_ns <= fastest.high_ns;
  std::vector<double> ratios(n);
  for (std::size_t i = 0; i < n; ++i) ratios[i] = other.samples_ns[i] / fastest.samples_ns[i];
  return median_interval(ratios).low <= 1 + least;
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

Standings decide(std::span<const Trial> finalists, const DecideOptions& options) {
  if (finalists.empty()) throw std::invalid_argument("decide: no finalists");
  for (const Trial& trial : finalists) measured(trial);
  std::vector<std::size_t> order(finalists.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const double x = measured(finalists[a]).median_ns, y = measured(finalists[b]).median_ns;
    return x != y ? x < y : simplicity(finalists[a]) < simplicity(finalists[b]);
  });

  Standings standings;
  standings.fastest = order.front();
  std::vector<std::size_t> group;
  for (const std::size_t i : order)
    if (i == standings.fastest || tie(finalists[standings.fastest], finalists[i], options)) group.push_back(i);
  const std::optional<std::size_t> the_default = options.default_at;
  if (the_default && std::ranges::find(group, *the_default) != group.end()) {
    standings.winner = *the_default;
  } else {
    const auto slower = [&](std::size_t i) {
      return the_default && measured(finalists[i]).median_ns > measured(finalists[*the_default]).median_ns;
    };
    standings.winner = *std::ranges::min_element(group, [&](std::size_t a, std::size_t b) {
      return std::pair(slower(a), simplicity(finalists[a])) < std::pair(slower(b), simplicity(finalists[b]));
    });
  }
  std::copy_if(group.begin(), group.end(), std::back_inserter(standings.ties),
               [&](std::size_t i) { return i != standings.winner; });
  return standings;
}

}  // namespace tuner
