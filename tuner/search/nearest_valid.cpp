#include <tuner/search/nearest_valid.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tuner::search {

namespace {

/// The valid configuration that differs from \p digits in parameter \p p only, by the smallest step; ties upwards or
/// downwards by chance.
std::optional<Index> change_one(const EnumeratedSpace& space, Random& random, std::vector<std::uint16_t>& digits,
                                std::size_t p) {
  const int here = digits[p];
  const int count = static_cast<int>(space.parameters()[p].values.size());
  const int first_sign = random.chance(0.5) ? 1 : -1;
  std::optional<Index> found;
  for (int step = 1; step < count && !found; ++step) {
    for (const int sign : {first_sign, -first_sign}) {
      const int to = here + sign * step;
      if (to < 0 || to >= count || found) continue;
      digits[p] = static_cast<std::uint16_t>(to);
      found = space.find_digits(digits);
    }
  }
  digits[p] = static_cast<std::uint16_t>(here);
  return found;
}

}  // namespace

std::optional<Index> nearest_valid(const EnumeratedSpace& space, Random& random,
                                   std::span<const std::uint16_t> digits) {
  if (const auto found = space.find_digits(digits)) return found;
  std::vector<std::uint16_t> changed(digits.begin(), digits.end());
  std::vector<std::size_t> order(changed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(order);
  for (const std::size_t p : order)
    if (const auto found = change_one(space, random, changed, p)) return found;
  // Two parameters: a bounded number of random tries.
  for (int attempt = 0; attempt < 40 && !order.empty(); ++attempt) {
    const std::size_t p = random.below(changed.size());
    const std::uint16_t kept = changed[p];
    changed[p] = static_cast<std::uint16_t>(random.below(space.parameters()[p].values.size()));
    if (const auto found = change_one(space, random, changed, random.below(changed.size()))) return found;
    changed[p] = kept;
  }
  return std::nullopt;
}

std::optional<Index> nearest_fresh(const History& history, Random& random, Index index) {
  if (history.is_fresh(index)) return index;
  const EnumeratedSpace& space = history.space();
  for (const auto kind : {Neighbourhood::adjacent, Neighbourhood::hamming}) {
    std::vector<Index> fresh;
    for (const Index neighbour : space.neighbours(index, kind))
      if (history.is_fresh(neighbour)) fresh.push_back(neighbour);
    if (!fresh.empty()) return fresh[random.below(fresh.size())];
  }
  const auto around = space.neighbours(index, Neighbourhood::hamming);
  for (int attempt = 0; attempt < 8 && !around.empty(); ++attempt) {
    const auto further = space.neighbours(around[random.below(around.size())], Neighbourhood::hamming);
    if (further.empty()) continue;
    const Index candidate = further[random.below(further.size())];
    if (history.is_fresh(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace tuner::search
