#include <tuner/search/chains.hpp>
#include <tuner/search/climber.hpp>
#include <tuner/search/perturb.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

/// Climb, jump from the best local optimum, climb again; restarts when that no longer helps.
class Iterated final : public SampledChain {
 public:
  struct Options {
    std::size_t samples = 8;    // random configurations before the first climb
    std::size_t jump = 2;       // parameters changed to leave a local optimum
    std::size_t patience = 20;  // climbs without an improvement before a restart
    bool adjacent = false;
    void visit(auto&& option) {
      option("samples", samples, 1, 1e6);
      option("jump", jump, 1, 1000);
      option("patience", patience, 1, 1e6);
      option("adjacent", adjacent, 0, 1);
    }
  };
  Iterated(History& history, Random& random, const Options& options, std::size_t)
      : SampledChain(history, random, options.samples),
        options_(options),
        climber_(history.space(), random, options.adjacent ? Neighbourhood::adjacent : Neighbourhood::hamming) {}

 private:
  void begin(Index best, double objective) override {
    failures_ = 0;
    home_ = best;
    home_objective_ = objective;
    climber_.begin(best);
  }
  Index walking() const override { return climber_.wanted(); }
  void step(double objective) override {
    climber_.advance(objective);
    if (!climber_.done()) return;
    if (climber_.objective() < home_objective_) failures_ = 0;
    if (climber_.objective() <= home_objective_) {
      home_ = climber_.here();
      home_objective_ = climber_.objective();
    }
    if (++failures_ > options_.patience) return restart();
    // ever longer jumps while they lead nowhere
    climber_.begin(perturb(history_.space(), random_, home_, options_.jump + failures_ / 4));
  }

  Options options_;
  Climber climber_;
  Index home_ = 0;
  double home_objective_ = HUGE_VAL;
  std::size_t failures_ = 0;
};

}  // namespace

StrategyEntry greedy_ils_entry() {
  return entry_of<ChainsOf<Iterated>>(
      "greedy_ils", "iterated local search: climbs, jumps from the best local optimum, climbs again",
      "Lourenco, Martin, Stutzle, \"Iterated local search\", Handbook of Metaheuristics (2003)");
}

}  // namespace tuner::search
