#pragma once
/// The bookkeeping of all strategies. A derived class chooses the next configuration; this class keeps the promises of
/// Strategy: it proposes nothing twice, never waits, and reaches every fresh configuration. Internal to the room.

#include <deque>
#include <optional>
#include <unordered_map>

#include <tuner/search/features.hpp>
#include <tuner/search/history.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::search {

/// A start that is spread evenly over the values of all parameters.
///
/// Draws some random fresh configurations and returns the one whose values were seen least and that is
/// farthest from those seen. A greedy form of the maximin and Latin-hypercube criteria that needs no product space.
///
/// Source: Mitchell, "Spectrally optimal sampling for distribution ray tracing" (best candidate), SIGGRAPH 1991;
/// McKay, Beckman, Conover, "A comparison of three methods for selecting values of input variables", Technometrics 21
/// (1979).
class Spread {
 public:
  explicit Spread(const EnumeratedSpace& space);
  /// With \p habits, the first one is the most usual, and the others stay near to what is usual. nullopt when no fresh
  /// configuration is left.
  std::optional<Index> next(History& history, Random& random, const Habits* habits);
  /// Counts \p index as seen.
  void seen(Index index);

 private:
  std::optional<Index> most_usual(History& history, Random& random, const Habits& habits) const;

  const EnumeratedSpace& space_;
  std::vector<std::vector<std::uint32_t>> uses_;  // for each parameter and digit
  std::vector<Index> seen_;
};

class BasicStrategy : public Strategy {
 public:
  BasicStrategy(const EnumeratedSpace& space, const StrategyOptions& options);

  std::vector<Index> propose(std::size_t n) final;
  void learn(std::span<const Observation> observations) final;
  void plan_for(std::size_t trials) final;

 protected:
  /// The part of a strategy that proposed a configuration, such as a member of a population.
  using Origin = std::optional<std::size_t>;

  /// A fresh configuration, or nullopt: then a random fresh one is proposed. Sets origin_ if
  /// on_result() needs it.
  virtual std::optional<Index> next() = 0;
  /// Called after the history has learnt \p observation, with the origin of the configuration.
  virtual void on_result(const Observation&, Origin) {}
  /// Whether proposals still come from the spread start instead of next().
  virtual bool starting() const { return proposed_ < start_; }

  const EnumeratedSpace& space() const { return history_.space(); }
  EnumeratedSpace::Digits digits(Index index) const;
  /// How many trials to plan for: the expected number, at most the size of the space; a usual one while it is unknown.
  std::size_t planned_trials() const { return planned_trials_; }

  History history_;
  Random random_;
  std::size_t start_ = 0;           // this many proposals come from the spread start
  std::deque<Index> first_;         // proposed first
  const Habits* habits_ = nullptr;  // for the spread start
  Origin origin_;
  bool own_ = false;  // whether on_result() gets a configuration that was proposed here

 private:
  std::optional<Index> next_first();

  std::size_t planned_trials_ = 0;
  std::size_t proposed_ = 0;
  Spread spread_;
  std::unordered_map<Index, std::size_t> origins_;  // of pending configurations
};

}  // namespace tuner::search
