#pragma once
/// Local searches as chains: each chain walks on results and says which configuration it needs next. A strategy runs
/// as many chains side by side as proposals are outstanding, so that nothing waits; with one proposal at a time it is
/// the textbook algorithm. Known configurations cost a chain nothing. Internal to the room.

#include <cmath>
#include <memory>
#include <vector>

#include <tuner/search/basic_strategy.hpp>

namespace tuner::search {

/// Starts from the best of some random configurations, at first and whenever it begins anew.
class Chain {
 public:
  Chain(History& history, Random& random, std::size_t samples) : history_(history), random_(random), samples_(samples) {
    restart();
  }
  virtual ~Chain() = default;
  /// The configuration whose result this chain needs next.
  Index wanted() const { return wanted_; }
  /// The result of wanted(): infinity for a failure. Decides what is wanted next.
  void advance(double objective);

 protected:
  /// The walk begins at \p best, whose result is \p objective: what is wanted first.
  virtual Index begin(Index best, double objective) = 0;
  /// The result of wanted(): what is wanted next, or nothing: to begin anew.
  virtual std::optional<Index> step(double objective) = 0;

  History& history_;
  Random& random_;

 private:
  void restart() {
    left_ = samples_;
    wanted_ = history_.anywhere(random_);
  }

  std::size_t samples_;
  std::size_t left_ = 0;  // samples
  Index wanted_ = 0;
  Index best_ = 0;  // sample
  double best_objective_ = HUGE_VAL;
};

class ChainStrategy : public BasicStrategy {
 public:
  using BasicStrategy::BasicStrategy;

 protected:
  /// A chain that starts anywhere.
  virtual std::unique_ptr<Chain> start() = 0;

 private:
  std::optional<Index> next() final;
  /// Walks over what is known; the fresh configuration it arrives at, or nothing: it needs one that is pending, or it
  /// has walked for long without leaving known ground.
  std::optional<Index> walk(std::unique_ptr<Chain>& chain);

  std::vector<std::unique_ptr<Chain>> chains_;
};

/// The strategy whose chains are all of one class, made from history, randomness, its Options and the trials planned.
template <typename Walker>
class ChainsOf final : public ChainStrategy {
 public:
  using Options = typename Walker::Options;
  ChainsOf(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : ChainStrategy(space, options), own_(own) {}

 private:
  std::unique_ptr<Chain> start() override {
    return std::make_unique<Walker>(history_, random_, own_, planned_trials());
  }
  Options own_;
};

}  // namespace tuner::search
