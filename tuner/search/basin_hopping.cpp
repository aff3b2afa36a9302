#include <tuner/search/chains.hpp>
#include <tuner/search/climber.hpp>
#include <tuner/search/perturb.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

struct HopOptions {
  double temperature;  // relative loss accepted with probability 1/e
  std::size_t samples;
  std::size_t jump;
};

/// Monte Carlo over local optima: hop, climb to the optimum of the basin, accept it by Metropolis' rule.
class Hops final : public Chain {
 public:
  Hops(History& history, Random& random, HopOptions options)
      : history_(history),
        random_(random),
        options_(options),
        climber_(history.space(), random, Neighbourhood::adjacent),
        sampling_(options.samples) {
    sample_ = anywhere();
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
    const double loss = (climber_.objective() - home_objective_) / std::abs(home_objective_);
    const bool better = climber_.objective() <= home_objective_;
    if (better || (std::isfinite(loss) && random_.chance(std::exp(-loss / options_.temperature)))) {
      home_ = climber_.here();
      home_objective_ = climber_.objective();
    }
    const Index to = perturb(history_.space(), random_, home_, options_.jump);
    climber_.begin(to == home_ ? anywhere() : to);
  }

 private:
  Index anywhere() {
    return history_.random_fresh(random_).value_or(static_cast<Index>(random_.below(history_.space().size())));
  }

  History& history_;
  Random& random_;
  HopOptions options_;
  Climber climber_;
  std::size_t sampling_;
  Index sample_ = 0;
  Index home_ = 0;
  double home_objective_ = HUGE_VAL;
};

class BasinHopping final : public ChainStrategy {
 public:
  using ChainStrategy::ChainStrategy;

 private:
  std::unique_ptr<Chain> start() override {
    const auto count = [&](const char* name) {
      return std::max<std::size_t>(1, static_cast<std::size_t>(option(name)));
    };
    return std::make_unique<Hops>(history_, random_,
                                  HopOptions{std::max(1e-9, option("temperature")), count("samples"), count("jump")});
  }
};

}  // namespace

StrategyEntry basin_hopping_entry() {
  return {{"basin_hopping",
           "hops between local optima of the adjacent neighbourhood, accepting worse ones by Metropolis' rule",
           "Wales, Doye, \"Global optimization by basin-hopping\", J. Phys. Chem. A 101 (1997)",
           {{"temperature", 0.1}, {"samples", 8}, {"jump", 2}}},
          &make<BasinHopping>};
}

}  // namespace tuner::search
