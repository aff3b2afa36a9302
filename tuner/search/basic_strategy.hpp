#pragma once
/// The bookkeeping that all strategies share: a derived class says which configuration it wants next, and this one
/// keeps the promises of Strategy (nothing twice, nothing waits, every fresh configuration is reached in the end).
/// Internal to the room.

#include <map>
#include <memory>
#include <string>

#include <tuner/search/history.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::search {

class BasicStrategy : public Strategy {
 public:
  BasicStrategy(const EnumeratedSpace& space, const StrategyOptions& options)
      : history_(space), random_(options.seed), options_(options) {}

  std::vector<Index> propose(std::size_t n) final;
  void learn(std::span<const Observation> observations) final;
  void withdrawn(Index index) final { history_.withdraw(index); }

 protected:
  /// A fresh configuration, or nothing: then a random fresh one is proposed instead.
  virtual std::optional<Index> next() = 0;
  /// After \p index was proposed, whether wanted by next() or drawn in its place.
  virtual void proposed(Index index) { static_cast<void>(index); }
  /// After the history learnt \p observation.
  virtual void told(const Observation& observation) { static_cast<void>(observation); }

  /// The option \p name: given, or its default in describe().
  double option(const std::string& name) const { return options_.values.at(name); }
  const EnumeratedSpace& space() const { return history_.space(); }
  /// The trials to plan for: what the caller expects, at most the space; 200 when nothing is known.
  std::size_t planned_trials() const;

  History history_;
  Random random_;

 private:
  StrategyOptions options_;  // with every option of the strategy present
};

/// How the registry knows a strategy.
struct StrategyEntry {
  StrategyInfo info;
  std::unique_ptr<Strategy> (*make)(const EnumeratedSpace& space, const StrategyOptions& options);
};

template <typename Made>
std::unique_ptr<Strategy> make(const EnumeratedSpace& space, const StrategyOptions& options) {
  return std::make_unique<Made>(space, options);
}

}  // namespace tuner::search
