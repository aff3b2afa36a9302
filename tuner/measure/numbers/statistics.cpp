#include <tuner/measure/numbers/statistics.hpp>

#include <algorithm>
#include <array>
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

/// log(n!). std::lgamma() writes a global variable, and several threads may be here.
double log_factorial(std::size_t n) {
  int sign = 0;
  return ::lgamma_r(double(n) + 1, &sign);
}

/// P(Binomial(n, 1/2) = k), in logarithms because 2^-n underflows.
double binomial_half(std::size_t n, std::size_t k) {
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) - double(n) * std::log(2.0));
}

constexpr double kConvergedWidth = 0.01;  // SamplingOptions::target_width, if nobody asks for another
constexpr double kMinLead = 0.002;        // a smaller relative lead of the median is always a tie
constexpr double kMaxLoss = 0.005;        // a larger one is never a tie

/// With fewer placements, their ratios say nothing of the next one.
constexpr std::size_t kLeastPlacements = 3;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

const Measurement& measured(const Trial& trial) {
  const Measurement* measurement = trial.measurement();
  if (measurement == nullptr)
    throw std::invalid_argument("decide: no measurement of " + trial.configuration.text() + " (" +
                                std::string(kind(trial.outcome)) + ")");
  return *measurement;
}

/// Whether sample k of both was taken at nearly the same moment.
bool in_pairs(const Trial& a, const Trial& b) {
  const std::size_t n = measured(a).samples_ns.size();
  return a.round != 0 && a.round == b.round && n >= 2 && n == measured(b).samples_ns.size();
}

std::vector<double> ratios(const Trial& fast, const Trial& slow) {
  const std::vector<double>&of_fast = measured(fast).samples_ns, &of_slow = measured(slow).samples_ns;
  std::vector<double> out(of_fast.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = of_slow[i] / of_fast[i];
  return out;
}

/// The median of \p values at each placement.
std::vector<double> medians(std::span<const double> values, const Placements& placements) {
  std::vector<double> out;
  for (const std::size_t samples : placements) {
    const std::size_t here = std::min(samples, values.size());
    if (here > 0) out.push_back(median(values.first(here)));
    values = values.subspan(here);
  }
  return out;
}

bool tie(const Trial& first, const Trial& second, const Placements& placements) {
  const Measurement &fastest = measured(first), &other = measured(second);
  if (other.median_ns > fastest.median_ns * (1 + kMaxLoss)) return false;
  if (other.median_ns <= fastest.median_ns * (1 + kMinLead)) return true;
  return least_ratio(first, second, placements) <= 1 + kMinLead;
}

bool ties_with_default(const Trial& one, const Trial& the_default, const DecideOptions& options) {
  if (tie(one, the_default, options.placements)) return true;
  const double time = measured(one).median_ns, of_default = measured(the_default).median_ns;
  if (time < kClearLead * of_default) return false;
  const bool is_small = of_default - time < options.min_lead_ns;
  if (options.placements.size() < 2 || !in_pairs(one, the_default)) return is_small;
  if (is_slower(the_default, one, options.placements)) return false;
  const std::vector<double> everywhere = medians(ratios(one, the_default), options.placements);
  const auto [least, most] = std::ranges::minmax(everywhere);
  return least <= 1 + kMinLead || (is_small && (least + most) / 2 - 1 <= most - least);
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

double standard_error(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / (n - 1) / n);
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

Measurement combined(std::span<const Measurement> parts) {
  Measurement all = parts.front();
  std::vector<double> clocks;
  double step = 0, least = all.median_ns, most = all.median_ns;
  all.samples_ns.clear();
  for (const Measurement& part : parts) {
    all.samples_ns.insert(all.samples_ns.end(), part.samples_ns.begin(), part.samples_ns.end());
    least = std::min(least, part.median_ns);
    most = std::max(most, part.median_ns);
    all.throttled |= part.throttled;
    if (part.clock_mhz > 0) clocks.push_back(part.clock_mhz);
    if (const auto found = part.metrics.find("clock_step_ns"); found != part.metrics.end())
      step = std::max(step, found->second);
    all.metrics.insert(part.metrics.begin(), part.metrics.end());
  }
  const MedianInterval interval = median_interval(all.samples_ns);
  all.median_ns = median(all.samples_ns);
  all.low_ns = std::min(least, std::max(0.0, interval.low - step / 2));
  all.high_ns = std::max(most, interval.high + step / 2);
  all.converged = all.high_ns - all.low_ns <= kConvergedWidth * all.median_ns;
  all.relative_noise = all.median_ns > 0 ? scaled_mad(all.samples_ns) / all.median_ns : 0;
  all.clock_mhz = clocks.empty() ? 0 : median(clocks);
  if (step > 0) all.metrics["clock_step_ns"] = step;
  all.metrics["placements"] = static_cast<double>(parts.size());
  return all;
}

std::pair<int, std::string> simplicity(const Trial& trial) {
  return {trial.resources ? trial.resources->registers : std::numeric_limits<int>::max(), trial.configuration.text()};
}

double least_ratio(const Trial& fast, const Trial& slow, const Placements& placements) {
  if (!in_pairs(fast, slow)) return measured(slow).low_ns / measured(fast).high_ns;
  const std::vector<double> pairs = ratios(fast, slow);
  double least = median_interval(pairs).low;
  for (const double here : medians(pairs, placements)) least = std::min(least, here);
  return least;
}

TimeRatio compared_times(const Trial& one, const Trial& other, const Placements& placements) {
  constexpr std::array kStudent = {4.303, 3.182, 2.776, 2.571, 2.447, 2.365};  // for 2 to 7 degrees of freedom
  const Measurement &a = measured(one), &b = measured(other);
  const std::vector<double> here =
      in_pairs(one, other) ? medians(ratios(other, one), placements) : std::vector<double>();
  if (here.size() < kLeastPlacements) return {a.median_ns / b.median_ns, a.low_ns / b.high_ns, a.high_ns / b.low_ns};
  const double ratio = mean(here);
  const double error = kStudent[std::min(here.size() - kLeastPlacements, kStudent.size() - 1)] * standard_error(here);
  return {ratio, std::max(ratio - error, 0.0), ratio + error};
}

bool is_slower(const Trial& slow, const Trial& fast, const Placements& placements) {
  return placements.size() >= kLeastPlacements && in_pairs(fast, slow) &&
         compared_times(slow, fast, placements).low > 1 + kMinLead;
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
  const Trial& fastest = finalists[standings.fastest];
  const std::optional<std::size_t> the_default = options.default_at;
  const auto is_ahead = [&](std::size_t i) {
    return !the_default || (measured(finalists[i]).median_ns < measured(finalists[*the_default]).median_ns &&
                            !ties_with_default(finalists[i], finalists[*the_default], options));
  };
  std::vector<std::size_t> group;
  for (const std::size_t i : order)
    if (i == standings.fastest || tie(fastest, finalists[i], options.placements) ||
        (i == the_default && !is_ahead(standings.fastest)))
      group.push_back(i);
  if (the_default && std::ranges::find(group, *the_default) != group.end()) {
    standings.winner = *the_default;
  } else {
    standings.winner = *std::ranges::min_element(group, [&](std::size_t a, std::size_t b) {
      return std::pair(!is_ahead(a), simplicity(finalists[a])) < std::pair(!is_ahead(b), simplicity(finalists[b]));
    });
  }
  std::copy_if(group.begin(), group.end(), std::back_inserter(standings.ties),
               [&](std::size_t i) { return i != standings.winner; });
  return standings;
}

}  // namespace tuner
