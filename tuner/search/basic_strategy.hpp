#pragma once
/// The bookkeeping that all strategies share: a derived class says which configuration it wants next, and this one
/// keeps the promises of Strategy (nothing twice, nothing waits, every fresh configuration is reached in the end).
/// Internal to the room.

#include <deque>
#include <optional>
#include <unordered_map>

#include <tuner/search/history.hpp>
#include <tuner/search/spread.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::search {

class BasicStrategy : public Strategy {
 public:
  BasicStrategy(const EnumeratedSpace& space, const StrategyOptions& options);

  std::vector<Index> propose(std::size_t n) final;
  void learn(std::span<const Observation> observations) final;

 protected:
  /// Who of several searches in one strategy (the members of a population) asked for a configuration.
  using Asker = std::optional<std::size_t>;

  /// A fresh configuration, or nothing: then a random fresh one is proposed instead. Sets asker_ when told() shall hear
  /// of it.
  virtual std::optional<Index> next() = 0;
  /// After the history learnt the observation, which the asker had asked for.
  virtual void told(const Observation&, Asker) {}
  /// Whether proposals are still spread over the values of all parameters, without asking next().
  virtual bool starting() const { return proposed_ < start_; }

  const EnumeratedSpace& space() const { return history_.space(); }
  EnumeratedSpace::Digits digits(Index index) const;
  /// The trials to plan for: what the caller expects, at most the space; 200 when nothing is known.
  std::size_t planned_trials() const { return planned_trials_; }

  History history_;
  Random random_;
  std::size_t start_ = 0;    // so many proposals are spread
  std::deque<Index> first_;  // proposed before anything else
  Asker asker_;
  bool own_ = false;  // whether what told() hears of was proposed here

 private:
  std::optional<Index> next_first();

  std::size_t planned_trials_;
  std::size_t proposed_ = 0;
  Spread spread_;
  std::unordered_map<Index, std::size_t> askers_;  // of what is pending
};

}  // namespace tuner::search
