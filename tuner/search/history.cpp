#include <tuner/search/history.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::search {

void History::propose(Index index) {
  if (!is_fresh(index)) return;
  set(index, State::pending);
  ++used_;
}

void History::withdraw(Index index) {
  if (state(index) != State::pending) return;
  set(index, State::fresh);
  is_drained_ = false;
  --used_;
  if (rest_.empty() || in_rest_[index]) return;
  rest_.push_back(index);
  in_rest_[index] = true;
}

void History::learn(const Observation& observation) {
  const bool valid = observation.objective && std::isfinite(*observation.objective);
  const double objective = valid ? *observation.objective : std::numeric_limits<double>::infinity();
  const State before = state(observation.index);
  if (before == State::fresh) ++used_;
  if (before == State::valid) --valid_count_;
  set(observation.index, valid ? State::valid : State::failed);
  is_drained_ = false;  // it may have fresh neighbours
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
  if (space_.is_open()) return drawn_fresh(random);
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

/// Draws, then looks beside known configurations, for spaces whose configurations are hard to draw, or few.
std::optional<Index> History::drawn_fresh(Random& random) {
  constexpr int draws = 64, looks = 8;
  const ValidityTest::Below below = [&random](std::size_t bound) { return random.below(bound); };
  for (int i = 0; i < draws; ++i) {
    const std::optional<Index> drawn = space_.draw(below);
    if (!drawn) break;
    if (is_fresh(*drawn)) return drawn;
  }
  for (int i = 0; i < looks; ++i) {
    const Index from = known_.empty() ? space_.any() : known_[random.below(known_.size())].index;
    std::vector<Index> around = space_.neighbours(from, Neighbourhood::hamming);
    around.push_back(space_.any());
    std::erase_if(around, [&](Index index) { return !is_fresh(index); });
    if (!around.empty()) return around[random.below(around.size())];
  }
  is_drained_ = true;
  return std::nullopt;
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
