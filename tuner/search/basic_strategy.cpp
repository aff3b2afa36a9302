#include <tuner/search/basic_strategy.hpp>

#include <algorithm>

namespace tuner::search {

BasicStrategy::BasicStrategy(const EnumeratedSpace& space, const StrategyOptions& options)
    : history_(space),
      random_(options.seed),
      planned_trials_(std::min(space.size(), options.expected_trials.value_or(200))),
      first_(options.first.rbegin(), options.first.rend()) {}

std::optional<Index> BasicStrategy::next_first() {
  while (!first_.empty()) {
    const Index index = first_.back();
    first_.pop_back();
    if (index < space().size() && history_.is_fresh(index)) return index;
  }
  return std::nullopt;
}

std::vector<Index> BasicStrategy::propose(std::size_t n) {
  std::vector<Index> out;
  while (out.size() < n && history_.fresh_count() > 0) {
    std::optional<Index> wanted = next_first();
    if (!wanted) wanted = next();
    if (!wanted || !history_.is_fresh(*wanted)) wanted = history_.random_fresh(random_);
    history_.propose(*wanted);
    proposed(*wanted);
    out.push_back(*wanted);
  }
  return out;
}

void BasicStrategy::learn(std::span<const Observation> observations) {
  for (const Observation& observation : observations) {
    if (observation.index >= space().size()) continue;
    if (observation.withdrawn) {
      history_.withdraw(observation.index);
      continue;
    }
    history_.learn(observation);
    told(observation);
  }
}

}  // namespace tuner::search
