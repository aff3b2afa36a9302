#include <tuner/search/chains.hpp>
#include <tuner/search/climber.hpp>
#include <tuner/search/perturb.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

/// Monte Carlo over local optima: hop, climb to the optimum of the basin, accept it by Metropolis' rule.
class Hops final : public SampledChain {
 public:
  struct Options {
    double temperature = 0.1;  // relative loss accepted with probability 1/e
    std::size_t samples = 8;
    std::size_t jump = 2;
    void visit(auto&& option) {
      option("temperature", temperature, 1e-9, 1e9);
      option("samples", samples, 1, 1e6);
      option("jump", jump, 1, 1000);
    }
  };
  Hops(History& history, Random& random, const Options& options, std::size_t)
      : SampledChain(history, random, options.samples),
        options_(options),
        climber_(history.space(), random, Neighbourhood::adjacent) {}

 private:
  void begin(Index best, double objective) override {
    home_ = best;
    home_objective_ = objective;
    climber_.begin(best);
  }
  Index walking() const override { return climber_.wanted(); }
  void step(double objective) override {
    climber_.advance(objective);
    if (!climber_.done()) return;
    const double loss = (climber_.objective() - home_objective_) / std::abs(home_objective_);
    const bool better = climber_.objective() <= home_objective_;
    if (better || (std::isfinite(loss) && random_.chance(std::exp(-loss / options_.temperature)))) {
      home_ = climber_.here();
      home_objective_ = climber_.objective();
    }
    const Index to = perturb(history_.space(), random_, home_, options_.jump);
    climber_.begin(to == home_ ? history_.anywhere(random_) : to);
  }

  Options options_;
  Climber climber_;
  Index home_ = 0;
  double home_objective_ = HUGE_VAL;
};

}  // namespace

StrategyEntry basin_hopping_entry() {
  return entry_of<ChainsOf<Hops>>(
      "basin_hopping",
      "hops between local optima of the adjacent neighbourhood, accepting worse ones by Metropolis' rule",
      "Wales, Doye, \"Global optimization by basin-hopping\", J. Phys. Chem. A 101 (1997)");
}

}  // namespace tuner::search
