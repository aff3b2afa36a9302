#include <tuner/search/history.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::search {

void History::propose(Index index) {
  if (state_[index] != State::fresh) return;
  state_[index] = State::pending;
  ++used_;
}

void History::withdraw(Index index) {
  if (state_[index] != State::pending) return;
  state_[index] = State::fresh;
  --used_;
  if (rest_.empty() || in_rest_[index]) return;
  rest_.push_back(index);
  in_rest_[index] = true;
}

void History::learn(const Observation& observation) {
  const bool valid = observation.objective && std::isfinite(*observation.objective);
  const double objective = valid ? *observation.objective : std::numeric_limits<double>::infinity();
  State& state = state_[observation.index];
  if (state == State::fresh) ++used_;
  if (state == State::valid) --valid_count_;
  state = valid ? State::valid : State::failed;
  if (valid) ++valid_count_;
  const auto [at, is_new] = position_.emplace(observation.index, known_.size());
  if (is_new) known_.emplace_back();
  known_[at->second] = {observation.index, objective};
  if (!is_new && best_ && best_->index == observation.index) {
    best_.reset();  // the best was measured again: find the best of all
    for (const Known& entry : known_)
      if (std::isfinite(entry.objective) && (!best_ || entry.objective < best_->objective)) best_ = entry;
  } else if (valid && (!best_ || objective < best_->objective)) {
    best_ = Known{observation.index, objective};
  }
}

std::optional<Index> History::random_fresh(Random& random) {
  if (fresh_count() == 0) return std::nullopt;
  if (rest_.empty() && fresh_count() * 4 > space_.size()) {
    for (;;) {
      const auto index = static_cast<Index>(random.below(space_.size()));
      if (is_fresh(index)) return index;
    }
  }
  if (rest_.empty()) {
    in_rest_.assign(space_.size(), false);
    for (Index index = 0; index < space_.size(); ++index)
      if (is_fresh(index)) {
        rest_.push_back(index);
        in_rest_[index] = true;
      }
  }
  for (;;) {
    const std::size_t at = random.below(rest_.size());
    if (is_fresh(rest_[at])) return rest_[at];
    in_rest_[rest_[at]] = false;
    rest_[at] = rest_.back();
    rest_.pop_back();
  }
}

std::vector<Known> History::elites(std::size_t count) const {
  std::vector<Known> out(known_);
  count = std::min(count, out.size());
  std::ranges::stable_sort(out, {}, &Known::objective);
  while (count > 0 && !std::isfinite(out[count - 1].objective)) --count;
  out.resize(count);
  return out;
}

}  // namespace tuner::search
