#pragma once
/// A strategy's knowledge of its space: configurations that were proposed, their results, the best one, and the fresh
/// ones. Shared by all strategies; proposes nothing. Internal to the room.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/search/random_numbers.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::search {

static_assert(std::is_same_v<Index, EnumeratedSpace::Index>);

enum class State : std::uint8_t { fresh, pending, valid, failed };

struct Known {
  Index index = 0;
  double objective = HUGE_VAL;  ///< infinity: it failed
};

class History {
 public:
  explicit History(const EnumeratedSpace& space)
      : space_(space), state_(space.is_open() ? 0 : space.size(), State::fresh) {}

  const EnumeratedSpace& space() const { return space_; }
  State state(Index index) const {
    if (!space_.is_open()) return state_[index];
    const auto at = open_state_.find(index);
    return at == open_state_.end() ? State::fresh : at->second;
  }
  bool is_fresh(Index index) const { return state(index) == State::fresh; }
  /// Infinity for a failure. Precondition: the state is valid or failed.
  double objective(Index index) const { return known_[position_.at(index)].objective; }

  void propose(Index index);
  /// A pending configuration becomes fresh again.
  void withdraw(Index index);
  /// If a configuration is learnt twice, the later observation counts.
  void learn(const Observation& observation);

  /// In the order in which they were learnt, failures included.
  const std::vector<Known>& known() const { return known_; }
  std::size_t valid_count() const { return valid_count_; }
  /// Of an open space: as far as is known, and 0 after no more were found.
  std::size_t fresh_count() const {
    if (!space_.is_open()) return space_.size() - used_;
    return is_drained_ ? 0 : std::max<std::size_t>(space_.size(), used_ + 1) - used_;
  }
  const std::optional<Known>& best() const { return best_; }

  /// A fresh configuration, drawn as EnumeratedSpace::draw(); nullopt when there is none, or an open space finds none.
  std::optional<Index> random_fresh(Random& random);
  /// The same, but any configuration if all are known.
  Index anywhere(Random& random) {
    if (const auto fresh = random_fresh(random)) return *fresh;
    if (!space_.is_open()) return random.below(space_.size());
    return known_.empty() ? space_.any() : known_[random.below(known_.size())].index;
  }
  /// The \p count best known configurations, best first; ties in the order learnt.
  std::vector<Known> elites(std::size_t count) const;

 private:
  void set(Index index, State state) { (space_.is_open() ? open_state_[index] : state_[index]) = state; }
  std::optional<Index> drawn_fresh(Random& random);

  const EnumeratedSpace& space_;
  std::vector<State> state_;                     // by index, of a listed space
  std::unordered_map<Index, State> open_state_;  // of an open one: those that are not fresh, or were not once
  bool is_drained_ = false;                      // an open space: the last attempt found no fresh configuration
  std::vector<Known> known_;
  std::unordered_map<Index, std::size_t> position_;  // index in known_
  std::optional<Known> best_;
  std::size_t valid_count_ = 0;
  std::size_t used_ = 0;     // not fresh
  std::vector<Index> rest_;  // all fresh ones and some others, each once; filled when at most a quarter are fresh
  std::vector<bool> in_rest_;
};

}  // namespace tuner::search
