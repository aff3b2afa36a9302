#include <algorithm>
#include <cmath>

#include <tuner/search/chains.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

/// Starts from the best of some random configurations. Accepts a worse neighbour with probability
/// exp(-loss / temperature), the loss in units of the way from the best to the median of what is known, so that
/// temperatures mean the same on every kernel. The temperature falls geometrically from hot to cold, then the chain
/// starts hot again from where it is best.
class Annealing final : public Chain {
 public:
  struct Options {
    double hot = 0.1;
    double cold = 0.01;
    std::size_t steps = 0;  // 0: as many as trials are planned
    std::size_t samples = 8;
    void visit(auto&& option) {
      option("hot", hot, 1e-9, 1e9);
      option("cold", cold, 1e-9, 1e9);
      option("steps", steps, 0, 1e9);
      option("samples", samples, 1, 1e6);
    }
  };
  Annealing(History& history, Random& random, const Options& options, std::size_t planned)
      : Chain(history, random, options.samples),
        options_(options),
        steps_(static_cast<double>(options.steps > 0 ? options.steps : std::max<std::size_t>(20, planned))),
        temperature_(options.hot) {}

 private:
  Index begin(Index best, double objective) override {
    here_ = best_ = best;
    objective_ = best_objective_ = objective;
    return neighbour();
  }
  std::optional<Index> step(double objective) override {
    if (accepts(objective)) {
      here_ = wanted();
      objective_ = objective;
    }
    if (objective < best_objective_) {
      best_ = wanted();
      best_objective_ = objective;
      rejected_ = 0;
    }
    temperature_ *= std::pow(options_.cold / options_.hot, 1 / steps_);
    if (temperature_ < options_.cold || ++rejected_ > steps_) reheat();
    return neighbour();
  }

  bool accepts(double objective) {
    if (objective <= objective_) return true;
    if (!std::isfinite(objective)) return false;
    if (!std::isfinite(objective_)) return true;
    if (until_scaled_-- == 0) scale();
    const double loss = (objective - objective_) / scale_;
    return random_.chance(std::exp(-loss / temperature_));
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

  Options options_;
  double steps_;
  double temperature_;
  Index here_ = 0;
  double objective_ = HUGE_VAL;
  Index best_ = 0;
  double best_objective_ = HUGE_VAL;
  double rejected_ = 0;
  double scale_ = 1;
  int until_scaled_ = 0;
};

}  // namespace

StrategyEntry simulated_annealing_entry() {
  return entry_of<ChainsOf<Annealing>>(
      "simulated_annealing", "one neighbour at a time, worse ones accepted ever more rarely",
      "Kirkpatrick, Gelatt, Vecchi, \"Optimization by simulated annealing\", Science 220 (1983)");
}

}  // namespace tuner::search
