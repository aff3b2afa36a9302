#include <tuner/search/chains.hpp>
#include <tuner/search/climber.hpp>
#include <tuner/search/perturb.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

struct IteratedOptions {
  Neighbourhood kind;
  std::size_t samples;   // random configurations before the first climb
  std::size_t jump;      // parameters changed to leave a local optimum
  std::size_t patience;  // climbs without an improvement before a restart
};

/// Climb, jump from the best local optimum, climb again; restarts when that no longer helps.
class Iterated final : public Chain {
 public:
  Iterated(History& history, Random& random, IteratedOptions options)
      : history_(history), random_(random), options_(options), climber_(history.space(), random, options.kind) {
    restart();
  }

  Index wanted() const override { return sampling_ > 0 ? sample_ : climber_.wanted(); }

  void advance(double objective) override {
    if (sampling_ > 0) {
      if (objective < home_objective_ || sampling_ == options_.samples) {
        home_ = sample_;
        home_objective_ = objective;
      }
      if (--sampling_ > 0) {
        sample_ = anywhere();
      } else {
        climber_.begin(home_);
      }
      return;
    }
    climber_.advance(objective);
    if (!climber_.done()) return;
    if (climber_.objective() < home_objective_) failures_ = 0;
    if (climber_.objective() <= home_objective_) {
      home_ = climber_.here();
      home_objective_ = climber_.objective();
    }
    if (++failures_ > options_.patience) {
      restart();
    } else {
      // ever longer jumps while they lead nowhere
      climber_.begin(perturb(history_.space(), random_, home_, options_.jump + failures_ / 4));
    }
  }

 private:
  Index anywhere() {
    return history_.random_fresh(random_).value_or(static_cast<Index>(random_.below(history_.space().size())));
  }
  void restart() {
    sampling_ = options_.samples;
    failures_ = 0;
    home_objective_ = HUGE_VAL;
    sample_ = anywhere();
  }

  History& history_;
  Random& random_;
  IteratedOptions options_;
  Climber climber_;
  std::size_t sampling_ = 0;
  Index sample_ = 0;
  Index home_ = 0;
  double home_objective_ = HUGE_VAL;
  std::size_t failures_ = 0;
};

class GreedyIls final : public ChainStrategy {
 public:
  using ChainStrategy::ChainStrategy;

 private:
  std::unique_ptr<Chain> start() override {
    const auto count = [&](const char* name) {
      return std::max<std::size_t>(1, static_cast<std::size_t>(option(name)));
    };
    const auto kind = option("adjacent") != 0 ? Neighbourhood::adjacent : Neighbourhood::hamming;
    return std::make_unique<Iterated>(history_, random_,
                                      IteratedOptions{kind, count("samples"), count("jump"), count("patience")});
  }
};

}  // namespace

StrategyEntry greedy_ils_entry() {
  return {{"greedy_ils",
           "iterated local search: climbs, jumps from the best local optimum, climbs again",
           "Lourenco, Martin, Stutzle, \"Iterated local search\", Handbook of Metaheuristics (2003)",
           {{"samples", 8}, {"jump", 2}, {"patience", 20}, {"adjacent", 0}}},
          &make<GreedyIls>};
}

}  // namespace tuner::search
