#include <tuner/convert/portfolio.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tuner::convert {
namespace {

using Shares = std::span<const std::vector<double>>;
using Chosen = std::vector<std::size_t>;

/// The first criterion. The worst size alone is a poor guide, because most exchanges do not change it. High powers of
/// all losses lead to the same result and change with every step.
enum class Aim { worst, mean, losses };

struct Worth {
  double worst = 0, mean = 0, losses = 1e9;

  /// Smaller differences come from the order of additions, not from measurements.
  bool above(const Worth& other, Aim aim) const {
    constexpr double kSame = 1e-12;
    if (aim == Aim::losses) return losses < other.losses * (1 - kSame);
    const bool mean_first = aim == Aim::mean;
    const double first = mean_first ? mean - other.mean : worst - other.worst;
    const double second = mean_first ? worst - other.worst : mean - other.mean;
    return first > kSame || (first > -kSame && second > kSame);
  }
};

/// The share of its best that \p chosen reaches, for each size.
std::vector<double> reached(Shares shares, const Chosen& chosen) {
  std::vector<double> reach(shares.size(), 0);
  for (std::size_t size = 0; size < shares.size(); ++size)
    for (const std::size_t one : chosen) reach[size] = std::max(reach[size], shares[size][one]);
  return reach;
}

Worth worth_with(Shares shares, const std::vector<double>& reach, std::size_t added) {
  Worth worth{1, 0, 0};
  for (std::size_t size = 0; size < shares.size(); ++size) {
    const double share = std::max(reach[size], shares[size][added]);
    worth.worst = std::min(worth.worst, share);
    worth.mean += share / static_cast<double>(shares.size());
    const double loss = 1 - share;
    worth.losses += loss * loss * loss * loss * loss * loss;
  }
  return worth;
}

/// The configuration that improves \p reach most, and the worth with it.
std::pair<std::size_t, Worth> best_addition(Shares shares, const std::vector<double>& reach, Aim aim) {
  std::pair<std::size_t, Worth> best{0, worth_with(shares, reach, 0)};
  for (std::size_t one = 1; one < shares.front().size(); ++one)
    if (const Worth worth = worth_with(shares, reach, one); worth.above(best.second, aim)) best = {one, worth};
  return best;
}

/// Replaces one configuration at a time while that helps.
void exchange(Shares shares, Chosen& chosen, Worth& worth, Aim aim) {
  for (bool better = true; better;) {
    better = false;
    for (std::size_t place = 0; place < chosen.size(); ++place) {
      Chosen others = chosen;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
      const auto [one, with] = best_addition(shares, reached(shares, others), aim);
      if (!with.above(worth, aim)) continue;
      chosen[place] = one;
      worth = with;
      better = true;
    }
  }
}

/// Configurations to form pairs from: those that are (nearly) the best for a size, and those with the best means.
Chosen shortlist(Shares shares) {
  constexpr std::size_t kAtASize = 8, kLongest = 192;
  const std::size_t count = shares.front().size();
  std::vector<double> worth(count, 0);  // mean; more than 1 if among the best of a size
  for (const std::vector<double>& row : shares) {
    std::vector<double> sorted = row;
    const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count, kAtASize) - 1);
    std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
    for (std::size_t one = 0; one < count; ++one)
      worth[one] += row[one] / static_cast<double>(shares.size()) + (row[one] > 0 && row[one] >= *last ? 1 : 0);
  }
  Chosen list(count);
  std::iota(list.begin(), list.end(), std::size_t{0});
  std::ranges::stable_sort(list, [&](std::size_t a, std::size_t b) { return worth[a] > worth[b]; });
  list.resize(std::min(count, kLongest));
  return list;
}

/// Replaces two at once if that helps, because neighbours often must change together. Returns whether any changed.
bool exchange_pairs(Shares shares, const Chosen& list, Chosen& chosen, Worth& worth) {
  for (std::size_t first = 0; first < chosen.size(); ++first)
    for (std::size_t second = first + 1; second < chosen.size(); ++second) {
      Chosen others = chosen;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(second));
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(first));
      const std::vector<double> kept = reached(shares, others);
      std::vector<double> reach = kept;
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t size = 0; size < shares.size(); ++size)
          reach[size] = std::max(kept[size], shares[size][list[i]]);
        for (std::size_t k = i + 1; k < list.size(); ++k) {
          const Worth with = worth_with(shares, reach, list[k]);
          if (!with.above(worth, Aim::worst)) continue;
          chosen[first] = list[i];
          chosen[second] = list[k];
          worth = with;
          return true;
        }
      }
    }
  return false;
}

/// Adds configurations while that helps, then exchanges them.
std::pair<Chosen, Worth> improved(Shares shares, std::size_t most, Aim aim) {
  Chosen chosen;
  Worth worth;
  while (chosen.size() < most) {
    const auto [one, with] = best_addition(shares, reached(shares, chosen), aim);
    if (!chosen.empty() && !with.above(worth, aim)) break;
    chosen.push_back(one);
    worth = with;
  }
  exchange(shares, chosen, worth, aim);
  exchange(shares, chosen, worth, Aim::worst);
  return {chosen, worth};
}

}  // namespace

Portfolio choose_portfolio(Shares shares, std::size_t most) {
  Portfolio portfolio;
  portfolio.of_size.resize(shares.size());
  if (shares.empty() || shares.front().empty() || most == 0) return portfolio;
  Chosen chosen;
  Worth worth;
  for (const Aim aim : {Aim::worst, Aim::mean, Aim::losses})
    if (auto [others, with] = improved(shares, most, aim); chosen.empty() || with.above(worth, Aim::worst)) {
      chosen = std::move(others);
      worth = with;
    }
  const Chosen list = shortlist(shares);
  while (exchange_pairs(shares, list, chosen, worth)) exchange(shares, chosen, worth, Aim::worst);
  std::ranges::sort(chosen);
  for (std::size_t size = 0; size < shares.size(); ++size)
    for (const std::size_t one : chosen) {
      std::optional<std::size_t>& fastest = portfolio.of_size[size];
      if (shares[size][one] > (fastest ? shares[size][*fastest] : 0)) fastest = one;
    }
  portfolio.chosen = std::move(chosen);
  portfolio.worst = worth.worst;
  portfolio.mean = worth.mean;
  return portfolio;
}

}  // namespace tuner::convert
