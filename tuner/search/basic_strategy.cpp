#include <tuner/search/basic_strategy.hpp>

#include <algorithm>

namespace tuner::search {

BasicStrategy::BasicStrategy(const EnumeratedSpace& space, const StrategyOptions& options)
    : history_(space),
      random_(options.seed),
      first_(options.first.begin(), options.first.end()),
      planned_trials_(std::min(space.size(), options.expected_trials.value_or(200))),
      spread_(space) {}

EnumeratedSpace::Digits BasicStrategy::digits(Index index) const {
  EnumeratedSpace::Digits out(space().parameters().size());
  space().digits(index, out);
  return out;
}

std::optional<Index> BasicStrategy::next_first() {
  while (!first_.empty()) {
    const Index index = first_.front();
    first_.pop_front();
    if (index < space().size() && history_.is_fresh(index)) return index;
  }
  return std::nullopt;
}

std::vector<Index> BasicStrategy::propose(std::size_t n) {
  std::vector<Index> out;
  while (out.size() < n && history_.fresh_count() > 0) {
    asker_.reset();
    std::optional<Index> wanted = next_first();
    if (!wanted) wanted = starting() ? spread_.next(history_, random_) : next();
    if (!wanted || !history_.is_fresh(*wanted)) wanted = history_.random_fresh(random_);
    if (starting()) spread_.seen(*wanted);
    if (asker_) askers_[*wanted] = *asker_;
    history_.propose(*wanted);
    ++proposed_;
    out.push_back(*wanted);
  }
  return out;
}

void BasicStrategy::learn(std::span<const Observation> observations) {
  for (const Observation& observation : observations) {
    if (observation.index >= space().size()) continue;
    Asker asker;
    if (const auto asked = askers_.extract(observation.index)) asker = asked.mapped();
    if (observation.withdrawn) {
      history_.withdraw(observation.index);
      continue;
    }
    own_ = history_.state(observation.index) == State::pending;
    history_.learn(observation);
    told(observation, asker);
  }
}

}  // namespace tuner::search
