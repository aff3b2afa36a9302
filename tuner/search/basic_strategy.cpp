#include <tuner/search/basic_strategy.hpp>

#include <algorithm>

namespace tuner::search {

std::vector<Index> BasicStrategy::propose(std::size_t n) {
  std::vector<Index> out;
  while (out.size() < n && history_.fresh_count() > 0) {
    std::optional<Index> wanted = next();
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
    history_.learn(observation);
    told(observation);
  }
}

std::size_t BasicStrategy::planned_trials() const {
  return std::min(space().size(), options_.expected_trials.value_or(200));
}

}  // namespace tuner::search
