#pragma once
/// Local searches as chains: each chain walks on results and says which configuration it needs next. A strategy runs
/// as many chains side by side as proposals are outstanding, so that nothing waits; with one proposal at a time it is
/// the textbook algorithm. Known configurations cost a chain nothing. Internal to the room.

#include <functional>
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

}  // namespace tuner::search
