#pragma once
/// The bookkeeping that all strategies share: a derived class says which configuration it wants next, and this one
/// keeps the promises of Strategy (nothing twice, nothing waits, every fresh configuration is reached in the end).
/// Internal to the room.

#include <optional>

#include <tuner/search/history.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::search {

class BasicStrategy : public Strategy {
 public:
  BasicStrategy(const EnumeratedSpace& space, const StrategyOptions& options);

  std::vector<Index> propose(std::size_t n) final;
  void learn(std::span<const Observation> observations) final;

 protected:
  /// A fresh configuration, or nothing: then a random fresh one is proposed instead.
  virtual std::optional<Index> next() = 0;
  /// After \p index was proposed: wanted by next(), drawn in its place, or given as one of the first.
  virtual void proposed(Index index) { static_cast<void>(index); }
  /// After the history learnt \p observation.
  virtual void told(const Observation& observation) { static_cast<void>(observation); }

  const EnumeratedSpace& space() const { return history_.space(); }
  /// The trials to plan for: what the caller expects, at most the space; 200 when nothing is known.
  std::size_t planned_trials() const { return planned_trials_; }

  History history_;
  Random random_;

 private:
  std::optional<Index> next_first();

  std::size_t planned_trials_;
  std::vector<Index> first_;  // reversed
};

}  // namespace tuner::search
