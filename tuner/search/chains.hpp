#pragma once
/// Local searches as chains: each chain walks on results and says which configuration it needs next. A strategy runs
/// as many chains side by side as proposals are outstanding, so that nothing waits; with one proposal at a time it is
/// the textbook algorithm. Known configurations cost a chain nothing. Internal to the room.

#include <cmath>
#include <memory>
#include <vector>

#include <tuner/search/basic_strategy.hpp>

namespace tuner::search {

class Chain {
 public:
  virtual ~Chain() = default;
  /// The configuration whose result this chain needs next.
  virtual Index wanted() const = 0;
  /// The result of wanted(): infinity for a failure. Decides what is wanted next.
  virtual void advance(double objective) = 0;
};

/// A chain that starts from the best of some random configurations, at first and whenever it begins anew.
class SampledChain : public Chain {
 public:
  SampledChain(History& history, Random& random, std::size_t samples)
      : history_(history), random_(random), samples_(samples) {
    restart();
  }
  Index wanted() const final { return left_ > 0 ? sample_ : walking(); }
  void advance(double objective) final;

 protected:
  /// The walk begins at \p best, whose result is \p objective.
  virtual void begin(Index best, double objective) = 0;
  /// wanted() and advance() of the walk.
  virtual Index walking() const = 0;
  virtual void step(double objective) = 0;

  void restart() {
    left_ = samples_;
    sample_ = history_.anywhere(random_);
  }

  History& history_;
  Random& random_;

 private:
  std::size_t samples_;
  std::size_t left_ = 0;  // samples
  Index sample_ = 0;
  Index best_ = 0;
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
