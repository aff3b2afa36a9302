#include <tuner/search/chains.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

/// Climbs to a local optimum by first improvement: neighbours in random order, a move at the first better one. Its
/// kinds differ in where they go from there.
class Climber : public Chain {
 public:
  Climber(History& history, Random& random, std::size_t samples, Neighbourhood kind)
      : Chain(history, random, samples), kind_(kind) {}

 protected:
  /// Where the next climb begins, from the local optimum here_; nothing: at the best of new samples.
  virtual std::optional<Index> leave() = 0;

  void settle() {
    home_ = here_;
    home_objective_ = objective_;
  }
  /// A configuration that differs from home_ in about \p parameters values, by valid steps; home_ itself when it has no
  /// neighbour.
  Index jump(std::size_t parameters) {
    Index to = home_;
    for (std::size_t step = 0; step < parameters; ++step) {
      const auto around = history_.space().neighbours(to, Neighbourhood::hamming);
      if (around.empty()) break;
      to = around[random_.below(around.size())];
    }
    return to;
  }

  Index here_ = 0;
  double objective_ = HUGE_VAL;
  Index home_ = 0;  // where jumps begin: the best sample, later an optimum
  double home_objective_ = HUGE_VAL;

 private:
  Index begin(Index best, double objective) final {
    home_ = best;
    home_objective_ = objective;
    return best;
  }
  std::optional<Index> step(double objective) final {
    if (!climbing_ || objective < objective_) {
      climbing_ = true;
      here_ = wanted();
      objective_ = objective;
      around_ = history_.space().neighbours(here_, kind_);
      random_.shuffle(around_);
    }
    if (around_.empty()) {
      climbing_ = false;
      return leave();
    }
    const Index next = around_.back();
    around_.pop_back();
    return next;
  }

  Neighbourhood kind_;
  bool climbing_ = false;
  std::vector<Index> around_;  // not tried yet
};

Neighbourhood neighbourhood(bool adjacent) { return adjacent ? Neighbourhood::adjacent : Neighbourhood::hamming; }

/// Climbs from the best of a few random configurations, again and again.
class Restarts final : public Climber {
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
      : Climber(history, random, options.samples, neighbourhood(options.adjacent)) {}

 private:
  std::optional<Index> leave() override { return std::nullopt; }
};

/// Jumps from the best local optimum; restarts when that no longer helps.
class Iterated final : public Climber {
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
      : Climber(history, random, options.samples, neighbourhood(options.adjacent)), options_(options) {}

 private:
  std::optional<Index> leave() override {
    if (objective_ < home_objective_) failures_ = 0;
    if (objective_ <= home_objective_) settle();
    // ever longer jumps while they lead nowhere
    if (++failures_ <= options_.patience) return jump(options_.jump + failures_ / 4);
    failures_ = 0;
    return std::nullopt;
  }

  Options options_;
  std::size_t failures_ = 0;
};

/// Monte Carlo over local optima: hop, climb to the optimum of the basin, accept it by Metropolis' rule.
class Hops final : public Climber {
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
      : Climber(history, random, options.samples, Neighbourhood::adjacent), options_(options) {}

 private:
  std::optional<Index> leave() override {
    const double loss = (objective_ - home_objective_) / std::abs(home_objective_);
    const bool better = objective_ <= home_objective_;
    if (better || (std::isfinite(loss) && random_.chance(std::exp(-loss / options_.temperature)))) settle();
    const Index to = jump(options_.jump);
    return to == home_ ? history_.anywhere(random_) : to;
  }

  Options options_;
};

}  // namespace

StrategyEntry mls_entry() {
  return entry_of<ChainsOf<Restarts>>(
      "mls",
      "multi-start local search: climbs to a local optimum from the best of some random configurations, repeatedly",
      "Marti, Resende, Ribeiro, \"Multi-start methods for combinatorial optimization\", EJOR 226 (2013)");
}

StrategyEntry greedy_ils_entry() {
  return entry_of<ChainsOf<Iterated>>(
      "greedy_ils", "iterated local search: climbs, jumps from the best local optimum, climbs again",
      "Lourenco, Martin, Stutzle, \"Iterated local search\", Handbook of Metaheuristics (2003)");
}

StrategyEntry basin_hopping_entry() {
  return entry_of<ChainsOf<Hops>>(
      "basin_hopping",
      "hops between local optima of the adjacent neighbourhood, accepting worse ones by Metropolis' rule",
      "Wales, Doye, \"Global optimization by basin-hopping\", J. Phys. Chem. A 101 (1997)");
}

}  // namespace tuner::search
