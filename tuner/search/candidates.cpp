#include <tuner/search/candidates.hpp>

#include <algorithm>

#include <tuner/search/nearest_valid.hpp>

namespace tuner::search {

namespace {

/// Each value from one of two parents, about one of those with a choice changed to anything.
Index crossing(const EnumeratedSpace& space, Random& random, const std::vector<Known>& parents) {
  const auto parent = [&] {  // the better ones twice as often
    return parents[std::min(random.below(parents.size()), random.below(parents.size()))].index;
  };
  const std::size_t count = space.parameters().size();
  EnumeratedSpace::Digits child(count);
  EnumeratedSpace::Digits other(count);
  const Index first = parent();
  space.digits(first, child);
  space.digits(parent(), other);
  const auto choices = std::count_if(space.parameters().begin(), space.parameters().end(),
                                     [](const TuningParameter& parameter) { return parameter.values.size() > 1; });
  const double mutation = 1 / static_cast<double>(choices);
  for (std::size_t p = 0; p < count; ++p) {
    if (random.chance(0.5)) child[p] = other[p];
    if (random.chance(mutation))
      child[p] = static_cast<std::uint16_t>(random.below(space.parameters()[p].values.size()));
  }
  return nearest_valid(space, random, child).value_or(first);
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
  if (!near_only || out.empty()) {
    for (std::size_t i = 0; i < options.crossings && parents.size() > 1; ++i) add(crossing(space, random, parents));
    for (std::size_t i = 0; i < options.pool; ++i)
      if (const auto index = history.random_fresh(random)) add(*index);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace tuner::search
