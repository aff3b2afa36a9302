#include <tuner/replay/scorer.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <boost/math/interpolators/cubic_hermite.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>

namespace tuner::replay {
namespace {

// The time axis begins when random search has come this part of the way from the median to the optimum, and ends when
// it has come that part.
constexpr double kStart = 0.01, kEnd = 0.95;
constexpr std::size_t kPoints = 1000;  // on the time axis
constexpr std::size_t kSamples = 500;  // of the bootstrap that gives the standard error

int sign(double v) { return (v > 0) - (v < 0); }

/// Slope at an end, from the first two intervals counted from it.
double end_slope(double h0, double h1, double secant0, double secant1) {
  const double slope = ((2 * h0 + h1) * secant0 - h0 * secant1) / (h0 + h1);
  if (sign(slope) != sign(secant0)) return 0;
  if (sign(secant0) != sign(secant1) && std::abs(slope) > 3 * std::abs(secant0)) return 3 * secant0;
  return slope;
}

/// The slopes with which a piecewise cubic through (x, y) keeps its shape. \p x: strictly ascending, at least two.
///
/// Source: Fritsch, Butland, "A method for constructing local monotone piecewise cubic interpolants", SIAM J. Sci.
/// Stat. Comput. 5 (1984); end slopes by the three-point formula with Moler's limits.
std::vector<double> slopes(std::span<const double> x, std::span<const double> y) {
  const std::size_t last = x.size() - 1;
  std::vector<double> width(last);
  std::vector<double> secant(last);
  for (std::size_t i = 0; i < last; ++i) {
    width[i] = x[i + 1] - x[i];
    secant[i] = (y[i + 1] - y[i]) / width[i];
  }
  if (last == 1) return {secant[0], secant[0]};
  std::vector<double> slope(x.size());
  for (std::size_t i = 1; i < last; ++i) {
    if (sign(secant[i - 1]) * sign(secant[i]) <= 0) continue;  // a local extreme: slope 0
    const double w1 = 2 * width[i] + width[i - 1];
    const double w2 = width[i] + 2 * width[i - 1];
    slope[i] = (w1 + w2) / (w1 / secant[i - 1] + w2 / secant[i]);
  }
  slope[0] = end_slope(width[0], width[1], secant[0], secant[1]);
  slope[last] = end_slope(width[last - 1], width[last - 2], secant[last - 1], secant[last - 2]);
  return slope;
}

/// Number of random draws after which \p portion of the way from the median to the optimum is expected.
double draws_until(double portion, std::span<const double> ascending) {
  const std::size_t count = ascending.size();
  const double optimum = ascending.front();
  std::vector<double> copy(ascending.begin(), ascending.end());  // median() changes its order
  const double median = boost::math::statistics::median(copy);
  const double target = optimum + (median - optimum) * (1 - portion);
  // The first of the descending list at or below the target.
  const auto above = std::upper_bound(ascending.begin(), ascending.end(), target);
  auto i = static_cast<std::size_t>(ascending.end() - above);
  if (i == count) i = count - 1;
  const double value = ascending[count - 1 - i];
  if (value == optimum && portion != 1 && i > 0) --i;
  return std::ceil(static_cast<double>(i) / static_cast<double>(count + 1 - i));
}

}  // namespace

Scorer::Scorer(const RecordedSpace& recorded) : recorded_(recorded) {
  for (const RecordedRow& row : recorded.rows)
    if (row.objective) ascending_.push_back(*row.objective);
  if (ascending_.empty())
    throw RecordedSpaceError(recorded.name + ": no configuration of this recorded space is valid");
  std::sort(ascending_.begin(), ascending_.end());
  set_times();
  set_baseline();
}

void Scorer::set_times() {
  std::vector<double> all;
  double valid = 0;
  double invalid = 0;
  for (const RecordedRow& row : recorded_.rows) {
    all.push_back(row.eval_seconds);
    (row.objective ? valid : invalid) += row.eval_seconds;
  }
  seconds_a_draw_ = valid / static_cast<double>(ascending_.size()) + invalid / static_cast<double>(all.size());
  const double median = boost::math::statistics::median(all);
  const double first = draws_until(kStart, ascending_) * median;
  const double last = draws_until(kEnd, ascending_) * median;
  times_.resize(kPoints);
  const double step = (last - first) / (kPoints - 1);
  for (std::size_t i = 0; i < times_.size(); ++i) times_[i] = first + step * static_cast<double>(i);
  times_.back() = last;
}

void Scorer::set_baseline() {
  const auto count = static_cast<double>(ascending_.size());
  const auto expected_best = [&](double draws) {
    const double position = std::min(count - 1, std::nearbyint(draws * (count + 1) / (draws + 1)));
    return ascending_[ascending_.size() - 1 - static_cast<std::size_t>(position)];
  };
  std::vector<double> draws;
  std::vector<double> best;
  for (const double time : times_) {
    const double k = seconds_a_draw_ > 0 ? std::nearbyint(std::max(time / seconds_a_draw_, 1.0)) : 1.0;
    if (!draws.empty() && draws.back() == k) continue;
    draws.push_back(k);
    best.push_back(expected_best(k));
  }
  if (draws.size() == 1) {
    baseline_.assign(times_.size(), best.front());
    return;
  }
  std::vector<double> slope = slopes(draws, best);
  const boost::math::interpolators::cubic_hermite smooth(std::vector<double>(draws), std::move(best), std::move(slope));
  baseline_.resize(kPoints);
  const double step = (draws.back() - draws.front()) / (kPoints - 1);
  for (std::size_t i = 0; i < kPoints; ++i) baseline_[i] = smooth(draws.front() + step * static_cast<double>(i));
  baseline_.back() = smooth(draws.back());
}

RankCurve Scorer::rank_curve(std::span<const std::uint64_t> rows) const {
  constexpr auto none = static_cast<std::uint32_t>(-1);
  RankCurve curve(times_.size(), none);
  std::uint32_t first = none;
  std::uint32_t best = none;
  double now = 0;
  std::size_t point = 0;
  for (const std::uint64_t index : rows) {
    if (point == kPoints) break;
    const RecordedRow& row = recorded_.rows[index];
    now += row.eval_seconds;
    while (point < kPoints && times_[point] < now) curve[point++] = best;
    if (!row.objective) continue;
    const auto at = std::lower_bound(ascending_.begin(), ascending_.end(), *row.objective);
    const auto rank = static_cast<std::uint32_t>(at - ascending_.begin());
    if (first == none) first = rank;
    best = std::min(best, rank);
  }
  while (point < kPoints) curve[point++] = best;
  if (first == none) first = static_cast<std::uint32_t>(ascending_.size() - 1);
  for (std::uint32_t& rank : curve)
    if (rank == none) rank = first;
  return curve;
}

double Scorer::score_of(std::span<const double> mean_rank, std::vector<double>* curve) const {
  double sum = 0;
  for (std::size_t i = 0; i < mean_rank.size(); ++i) {
    const double value = ascending_[static_cast<std::size_t>(std::nearbyint(mean_rank[i]))];
    if (curve) curve->push_back(value);
    const double room = baseline_[i] - optimum();
    // If random search is expected at the optimum itself, no strategy can gain anything.
    if (room > 0) sum += (baseline_[i] - value) / room;
  }
  return sum / static_cast<double>(mean_rank.size());
}

Score Scorer::score(std::span<const RankCurve> repeats) const {
  const auto mean_of = [&](const std::vector<std::size_t>& chosen) {
    std::vector<double> mean(kPoints, 0.0);
    for (const std::size_t repeat : chosen)
      for (std::size_t i = 0; i < kPoints; ++i) mean[i] += repeats[repeat][i];
    for (double& value : mean) value /= static_cast<double>(chosen.size());
    return mean;
  };
  Score out;
  std::vector<std::size_t> all(repeats.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  out.value = score_of(mean_of(all), &out.curve);
  out.relative_to_optimum = share_of_optimum(optimum(), out.curve.back());
  out.random_to_optimum = share_of_optimum(optimum(), baseline_.back());
  if (repeats.size() < 2) return out;

  std::mt19937_64 random(0x5eed);  // the same repeats give the same standard error
  double sum = 0;
  double squares = 0;
  for (std::size_t sample = 0; sample < kSamples; ++sample) {
    std::vector<std::size_t> chosen(repeats.size());
    for (std::size_t& repeat : chosen) repeat = random() % repeats.size();
    const double value = score_of(mean_of(chosen), nullptr) - out.value;
    sum += value;
    squares += value * value;
  }
  out.standard_error = std::sqrt(std::max(0.0, (squares - sum * sum / kSamples) / (kSamples - 1)));
  return out;
}

}  // namespace tuner::replay
