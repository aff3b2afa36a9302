#include <tuner/search/chains.hpp>
#include <tuner/search/climber.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

/// Climbs from the best of a few random configurations to a local optimum, again and again.
class Restarts final : public Chain {
 public:
  Restarts(History& history, Random& random, Neighbourhood kind, std::size_t sampled)
      : history_(history), random_(random), climber_(history.space(), random, kind), sampled_(sampled) {
    restart();
  }

  Index wanted() const override { return climbing_ ? climber_.wanted() : sample_; }

  void advance(double objective) override {
    if (climbing_) {
      climber_.advance(objective);
      if (climber_.done()) restart();
      return;
    }
    if (seen_ == 0 || objective < best_objective_) {
      best_ = sample_;
      best_objective_ = objective;
    }
    if (++seen_ < sampled_) {
      sample_ = anywhere();
      return;
    }
    climbing_ = true;
    climber_.begin(best_);
  }

 private:
  Index anywhere() {
    return history_.random_fresh(random_).value_or(static_cast<Index>(random_.below(history_.space().size())));
  }
  void restart() {
    climbing_ = false;
    seen_ = 0;
    sample_ = anywhere();
  }

  History& history_;
  Random& random_;
  Climber climber_;
  std::size_t sampled_;
  bool climbing_ = false;
  std::size_t seen_ = 0;
  Index sample_ = 0;
  Index best_ = 0;
  double best_objective_ = 0;
};

class MultiStart final : public ChainStrategy {
 public:
  using ChainStrategy::ChainStrategy;

 private:
  std::unique_ptr<Chain> start() override {
    const auto kind = option("adjacent") != 0 ? Neighbourhood::adjacent : Neighbourhood::hamming;
    return std::make_unique<Restarts>(history_, random_, kind,
                                      std::max<std::size_t>(1, static_cast<std::size_t>(option("samples"))));
  }
};

}  // namespace

StrategyEntry mls_entry() {
  return {
      {"mls",
       "multi-start local search: climbs to a local optimum from the best of some random configurations, repeatedly",
       "Marti, Resende, Ribeiro, \"Multi-start methods for combinatorial optimization\", EJOR 226 (2013)",
       {{"samples", 8}, {"adjacent", 0}}},
      &make<MultiStart>};
}

}  // namespace tuner::search
