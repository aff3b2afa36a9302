#include <tuner/measure/numbers/paired_comparison.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <tuner/measure/numbers/statistics.hpp>

namespace tuner {
namespace {

/// The probability of a false alarm at the first look: the least that 12 placements reach is 2 / 2^12.
constexpr double kFirstAlpha = 0.0005;
/// The other looks share the rest of 0.001.
constexpr double kLaterAlpha = kFirstAlpha / (kLooks.size() - 1);

/// The mean of the middle half. Unlike a median it is not one of the clock's steps; outliers do not count.
double middle_mean(std::vector<double> times) {
  if (times.empty()) throw std::invalid_argument("compare_pairs: a placement without times");
  std::ranges::sort(times);
  if (!(times.front() > 0)) throw std::invalid_argument("compare_pairs: a time that is not above 0");
  const auto cut = static_cast<std::ptrdiff_t>(times.size() / 4);
  return std::accumulate(times.begin() + cut, times.end() - cut, 0.0) / static_cast<double>(times.size() - 2 * cut);
}

/// P(W <= w) for w = 0, 1, …: W is the sum of those of the ranks 1 to n whose values are positive, each with
/// probability 1/2.
std::vector<double> signed_rank_distribution(std::size_t n) {
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0.0);
  probability[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank)
    for (std::size_t w = probability.size(); w-- > 0;)
      probability[w] = (probability[w] + (w >= rank ? probability[w - rank] : 0)) / 2;
  std::partial_sum(probability.begin(), probability.end(), probability.begin());
  return probability;
}

/// The means of all pairs, each value with itself too, in order. W is the number of those above 0.
std::vector<double> walsh_averages(std::span<const double> values) {
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i; j < values.size(); ++j) means.push_back((values[i] + values[j]) / 2);
  std::ranges::sort(means);
  return means;
}

/// Precondition: so many that the least probability is at most alpha / 2.
PairedComparison look(std::span<const double> logarithms, double alpha, double margin) {
  const std::vector<double> means = walsh_averages(logarithms);
  const std::vector<double> at_most = signed_rank_distribution(logarithms.size());
  const auto cut = static_cast<std::size_t>(std::ranges::upper_bound(at_most, alpha / 2) - at_most.begin()) - 1;
  const auto negative = static_cast<std::size_t>(std::ranges::lower_bound(means, 0.0) - means.begin());
  const auto not_positive = static_cast<std::size_t>(std::ranges::upper_bound(means, 0.0) - means.begin());

  PairedComparison out;
  out.placements = logarithms.size();
  out.confidence = 1 - alpha;
  out.ratio = std::exp(median(means));
  out.low = std::exp(means[cut]);
  out.high = std::exp(means[means.size() - 1 - cut]);
  // Pairs that are equal count against a difference.
  out.p = std::min(1.0, 2 * at_most[std::min(not_positive, means.size() - negative)]);
  if (out.low >= 1 / (1 + margin) && out.high <= 1 + margin)
    out.verdict = Difference::same;
  else if (out.low > 1)
    out.verdict = Difference::slower;
  else if (out.high < 1)
    out.verdict = Difference::faster;
  return out;
}

}  // namespace

std::string_view name(Difference difference) {
  constexpr std::string_view names[] = {"slower", "faster", "same", "undecided"};
  return names[static_cast<std::size_t>(difference)];
}

PairedComparison compare_pairs(std::span<const PlacementTimes> placements, double margin) {
  std::vector<double> logarithms;
  for (const PlacementTimes& one : placements)
    logarithms.push_back(std::log(middle_mean(one.b_ns) / middle_mean(one.a_ns)));

  PairedComparison out;
  out.placements = logarithms.size();
  if (!logarithms.empty()) out.ratio = std::exp(median(walsh_averages(logarithms)));
  for (const std::size_t n : kLooks) {
    if (n > logarithms.size()) {
      out.next_look = n;
      break;
    }
    out = look(std::span(logarithms).first(n), n == kLooks.front() ? kFirstAlpha : kLaterAlpha, margin);
    if (out.verdict != Difference::undecided) break;
  }
  return out;
}

}  // namespace tuner
