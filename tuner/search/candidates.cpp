#include <tuner/search/candidates.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tuner::search {
namespace {

/// The valid configuration that differs from \p digits only in parameter \p p, by the smallest step. Chance decides
/// between equal steps up and down.
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

/// Takes each value from one of two parents, and changes about one parameter with a choice at random.
Index crossing(const EnumeratedSpace& space, Random& random, const std::vector<Known>& parents) {
  const auto parent = [&] {  // better ones are more likely
    return parents[std::min(random.below(parents.size()), random.below(parents.size()))].index;
  };
  const std::size_t count = space.parameters().size();
  EnumeratedSpace::Digits child(count);
  EnumeratedSpace::Digits other(count);
  const Index first = parent();
  space.digits(first, child);
  space.digits(parent(), other);
  const auto has_choice = [](const TuningParameter& parameter) { return parameter.values.size() > 1; };
  const auto choices = std::ranges::count_if(space.parameters(), has_choice);
  const double mutation = 1 / static_cast<double>(choices);
  for (std::size_t p = 0; p < count; ++p) {
    if (random.chance(0.5)) child[p] = other[p];
    if (random.chance(mutation))
      child[p] = static_cast<std::uint16_t>(random.below(space.parameters()[p].values.size()));
  }
  return nearest_valid(space, random, child).value_or(first);
}

/// Gives each value that configuration \p index cannot take alone to it, with the smallest step of another parameter.
/// At most \p most of them, chosen at random if there are more.
std::vector<Index> repaired_values(const EnumeratedSpace& space, Random& random, Index index, std::size_t most) {
  struct Change {
    std::size_t parameter;
    std::uint16_t digit;
  };
  EnumeratedSpace::Digits digits(space.parameters().size());
  space.digits(index, digits);
  std::vector<Change> blocked;
  for (std::size_t p = 0; p < digits.size(); ++p) {
    const std::uint16_t kept = digits[p];
    for (digits[p] = 0; digits[p] < space.parameters()[p].values.size(); ++digits[p])
      if (!space.find_digits(digits)) blocked.push_back({p, digits[p]});
    digits[p] = kept;
  }
  random.shuffle(blocked);
  if (blocked.size() > most) blocked.resize(most);
  std::vector<std::size_t> others(digits.size());
  std::iota(others.begin(), others.end(), std::size_t{0});
  std::vector<Index> out;
  for (const Change& change : blocked) {
    const std::uint16_t kept = std::exchange(digits[change.parameter], change.digit);
    random.shuffle(others);
    for (const std::size_t p : others) {
      if (p == change.parameter) continue;
      const auto found = change_one(space, random, digits, p);
      if (found) out.push_back(*found);
      if (found) break;
    }
    digits[change.parameter] = kept;
  }
  return out;
}

}  // namespace

std::vector<Index> candidates(History& history, Random& random, const CandidateOptions& options, bool near_only) {
  const EnumeratedSpace& space = history.space();
  std::vector<Index> out;
  const auto add = [&](Index index) {
    if (history.is_fresh(index)) out.push_back(index);
  };
  const std::vector<Known> parents = history.elites(options.parents);
  for (std::size_t i = 0; i < std::min(parents.size(), options.elites); ++i)
    for (const Index index : space.neighbours(parents[i].index, Neighbourhood::hamming)) add(index);
  if (!parents.empty()) {
    const Index one = parents[random.below(std::min(parents.size(), options.elites))].index;
    for (const Index index : repaired_values(space, random, one, options.repairs)) add(index);
  }
  if (!near_only || out.empty()) {
    for (std::size_t i = 0; i < options.crossings && parents.size() > 1; ++i) add(crossing(space, random, parents));
    for (std::size_t i = 0; i < options.pool; ++i)
      if (const auto index = history.random_fresh(random)) add(*index);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<Index> nearest_valid(const EnumeratedSpace& space, Random& random,
                                   std::span<const std::uint16_t> digits) {
  if (const auto found = space.find_digits(digits)) return found;
  std::vector<std::uint16_t> changed(digits.begin(), digits.end());
  std::vector<std::size_t> order(changed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(order);
  for (const std::size_t p : order)
    if (const auto found = change_one(space, random, changed, p)) return found;
  // Two parameters: a limited number of random tries.
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
