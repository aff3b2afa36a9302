#include <algorithm>
#include <cmath>

#include <tuner/search/chains.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

struct AnnealingOptions {
  double hot, cold, steps;
  std::size_t samples;
};

/// Starts from the best of some random configurations. Accepts a worse neighbour with probability
/// exp(-loss / temperature), the loss in units of the way from the best to the median of what is known, so that
/// temperatures mean the same on every kernel. The temperature falls geometrically from hot to cold, then the chain
/// starts hot again from where it is best.
class Annealing final : public Chain {
 public:
  Annealing(History& history, Random& random, AnnealingOptions options)
      : history_(history), random_(random), options_(options), temperature_(options.hot) {
    wanted_ = here_ =
        history_.random_fresh(random_).value_or(static_cast<Index>(random_.below(history_.space().size())));
  }

  Index wanted() const override { return wanted_; }

  void advance(double objective) override {
    if (sampled_ < options_.samples) {
      if (sampled_++ == 0 || objective < objective_) {
        here_ = best_ = wanted_;
        objective_ = best_objective_ = objective;
      }
      wanted_ = sampled_ < options_.samples ? anywhere() : neighbour();
      return;
    }
    if (accepts(objective)) {
      here_ = wanted_;
      objective_ = objective;
    }
    if (objective < best_objective_) {
      best_ = wanted_;
      best_objective_ = objective;
      rejected_ = 0;
    }
    temperature_ *= std::pow(options_.cold / options_.hot, 1 / options_.steps);
    if (temperature_ < options_.cold || ++rejected_ > options_.steps) reheat();
    wanted_ = neighbour();
  }

 private:
  bool accepts(double objective) {
    if (objective <= objective_) return true;
    if (!std::isfinite(objective)) return false;
    if (!std::isfinite(objective_)) return true;
    if (until_scaled_-- == 0) scale();
    const double loss = (objective - objective_) / scale_;
    return random_.chance(std::exp(-loss / temperature_));
  }

  Index anywhere() {
    return history_.random_fresh(random_).value_or(static_cast<Index>(random_.below(history_.space().size())));
  }

  void scale() {
    until_scaled_ = 32;
    std::vector<double> objectives;
    for (const Known& known : history_.known())
      if (std::isfinite(known.objective)) objectives.push_back(known.objective);
    if (objectives.empty()) return;
    const auto middle = objectives.begin() + static_cast<std::ptrdiff_t>(objectives.size() / 2);
    std::nth_element(objectives.begin(), middle, objectives.end());
    const double spread = *middle - history_.best()->objective;
    scale_ = spread > 0 ? spread : 1;
  }

  void reheat() {
    temperature_ = options_.hot;
    rejected_ = 0;
    if (std::isfinite(best_objective_)) {
      here_ = best_;
      objective_ = best_objective_;
    }
  }

  /// Fresh ones are preferred: stepping on known ground again teaches nothing.
  Index neighbour() {
    const auto kind = random_.chance(0.5) ? Neighbourhood::adjacent : Neighbourhood::hamming;
    std::vector<Index> around = history_.space().neighbours(here_, kind);
    if (around.empty()) around = history_.space().neighbours(here_, Neighbourhood::hamming);
    std::vector<Index> fresh;
    for (const Index index : around)
      if (history_.is_fresh(index)) fresh.push_back(index);
    if (!fresh.empty()) return fresh[random_.below(fresh.size())];
    if (!around.empty() && !random_.chance(0.1)) return around[random_.below(around.size())];
    return history_.random_fresh(random_).value_or(here_);
  }

  History& history_;
  Random& random_;
  AnnealingOptions options_;
  double temperature_;
  Index wanted_ = 0;
  Index here_ = 0;
  double objective_ = HUGE_VAL;
  Index best_ = 0;
  double best_objective_ = HUGE_VAL;
  double rejected_ = 0;
  std::size_t sampled_ = 0;
  double scale_ = 1;
  int until_scaled_ = 0;
};

class SimulatedAnnealing final : public ChainStrategy {
 public:
  using ChainStrategy::ChainStrategy;

 private:
  std::unique_ptr<Chain> start() override {
    const double steps = option("steps") > 0 ? option("steps") : std::max(20.0, static_cast<double>(planned_trials()));
    return std::make_unique<Annealing>(
        history_, random_,
        AnnealingOptions{option("hot"), option("cold"), std::max(1.0, steps),
                         std::max<std::size_t>(1, static_cast<std::size_t>(option("samples")))});
  }
};

}  // namespace

StrategyEntry simulated_annealing_entry() {
  return {{"simulated_annealing",
           "one neighbour at a time, worse ones accepted ever more rarely",
           "Kirkpatrick, Gelatt, Vecchi, \"Optimization by simulated annealing\", Science 220 (1983)",
           {{"hot", 0.1}, {"cold", 0.01}, {"steps", 0}, {"samples", 8}}},
          &make<SimulatedAnnealing>};
}

}  // namespace tuner::search
