#include <bench/truth/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tuner/measure/numbers/statistics.hpp>

namespace bench::truth {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr double kTail = 0.025;  // of a 95% interval

/// The probability of at most \p hits in \p cases, each with \p chance.
double at_most(std::size_t hits, std::size_t cases, double chance) {
  if (chance <= 0 || hits >= cases) return 1;
  if (chance >= 1) return 0;
  const auto n = static_cast<double>(cases);
  double sum = 0;
  for (std::size_t i = 0; i <= hits; ++i) {
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(chance) +
                    (n - k) * std::log1p(-chance));
  }
  return std::min(sum, 1.0);
}

/// The chance at which \p is_below changes from true to false.
template <typename Predicate>
double border(const Predicate& is_below) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (is_below(middle) ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNothing;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(q * static_cast<double>(values.size()) - 1e-9);
  return values[static_cast<std::size_t>(std::clamp(rank - 1, 0.0, static_cast<double>(values.size() - 1)))];
}

double Rate::value() const { return cases == 0 ? kNothing : static_cast<double>(hits) / static_cast<double>(cases); }

double Rate::low() const {
  if (hits == 0) return 0;
  return border([this](double chance) { return 1 - at_most(hits - 1, cases, chance) < kTail; });
}

double Rate::high() const {
  if (hits >= cases) return 1;
  return border([this](double chance) { return at_most(hits, cases, chance) > kTail; });
}

double paired_ratio(const Replays& replays, const std::string& a, const std::string& b) {
  const auto ours = replays.find(a), theirs = replays.find(b);
  if (ours == replays.end() || theirs == replays.end()) return kNothing;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(ours->second.size(), theirs->second.size()); ++i)
    ratios.push_back(ours->second[i] / theirs->second[i]);
  return tuner::median(ratios);
}

std::string fastest(const Replays& replays, std::span<const std::string> names) {
  std::string best;
  double best_ns = std::numeric_limits<double>::infinity();
  for (const std::string& name : names) {
    const auto at = replays.find(name);
    if (at == replays.end()) continue;
    if (std::ranges::all_of(names, [&](const std::string& other) { return !(paired_ratio(replays, name, other) > 1); }))
      return name;
    if (const double ns = tuner::median(at->second); ns < best_ns) {
      best = name;
      best_ns = ns;
    }
  }
  return best;
}

double tolerance_ns(double had) { return std::max(0.02 * had, 50.0); }

}  // namespace bench::truth
