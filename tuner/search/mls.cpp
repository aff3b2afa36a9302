#include <tuner/search/chains.hpp>
#include <tuner/search/climber.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

/// Climbs from the best of a few random configurations to a local optimum, again and again.
class Restarts final : public SampledChain {
 public:
  struct Options {
    std::size_t samples = 8;
    bool adjacent = false;
    void visit(auto&& option) {
      option("samples", samples, 1, 1e6);
      option("adjacent", adjacent, 0, 1);
    }
  };
  Restarts(History& history, Random& random, const Options& options, std::size_t)
      : SampledChain(history, random, options.samples),
        climber_(history.space(), random, options.adjacent ? Neighbourhood::adjacent : Neighbourhood::hamming) {}

 private:
  void begin(Index best, double) override { climber_.begin(best); }
  Index walking() const override { return climber_.wanted(); }
  void step(double objective) override {
    climber_.advance(objective);
    if (climber_.done()) restart();
  }

  Climber climber_;
};

}  // namespace

StrategyEntry mls_entry() {
  return entry_of<ChainsOf<Restarts>>(
      "mls",
      "multi-start local search: climbs to a local optimum from the best of some random configurations, repeatedly",
      "Marti, Resende, Ribeiro, \"Multi-start methods for combinatorial optimization\", EJOR 226 (2013)");
}

}  // namespace tuner::search
