#include <algorithm>
#include <cmath>

#include <tuner/search/nearest_valid.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

/// DE/current-to-best/1/bin on positions in the lists of values. A trial competes with the member it was made for as
/// soon as its result is known.
class DifferentialEvolution final : public BasicStrategy {
 public:
  struct Options {
    std::size_t population = 20;
    double factor = 0.7;
    double crossover = 0.6;
    std::size_t greed = 2;  // rivals of the member that leads
    double jitter = 1.2;    // steps
    void visit(auto&& option) {
      option("population", population, 4, 1e6);
      option("factor", factor, 0, 100);
      option("crossover", crossover, 0, 1);
      option("greed", greed, 0, 1000);
      option("jitter", jitter, 0, 1000);
    }
  };
  DifferentialEvolution(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), options_(own) {
    start_ = std::clamp<std::size_t>(planned_trials() / 5, 4, own.population);
  }

 private:
  std::optional<Index> next() override {
    if (members_.size() < 4) return std::nullopt;
    for (int attempt = 0; attempt < 8; ++attempt) {
      turn_ = (turn_ + 1) % members_.size();
      asker_ = turn_;
      const auto trial = nearest_valid(space(), random_, mutant(turn_));
      if (trial && history_.is_fresh(*trial)) return trial;
    }
    return nearest_fresh(history_, random_, members_[turn_].index);
  }

  EnumeratedSpace::Digits mutant(std::size_t target) {
    EnumeratedSpace::Digits x = digits(members_[target].index);
    std::size_t leader = random_.below(members_.size());  // one of the better half, not always the best
    for (std::size_t i = 0; i < options_.greed; ++i) {
      const std::size_t other = random_.below(members_.size());
      if (members_[other].objective < members_[leader].objective) leader = other;
    }
    const EnumeratedSpace::Digits best = digits(members_[leader].index);
    const EnumeratedSpace::Digits a = digits(members_[random_.below(members_.size())].index);
    const EnumeratedSpace::Digits b = digits(members_[random_.below(members_.size())].index);
    const double f = random_.uniform(0.5, 1.0) * options_.factor;
    const std::size_t always = random_.below(std::max<std::size_t>(x.size(), 1));
    for (std::size_t p = 0; p < x.size(); ++p) {
      if (p != always && !random_.chance(options_.crossover)) continue;
      const auto last = static_cast<double>(space().parameters()[p].values.size() - 1);
      double value = best[p] + f * (static_cast<double>(a[p]) - static_cast<double>(b[p]));
      value += random_.uniform(-0.5, 0.5) * options_.jitter;  // values of few steps would stop differing
      if (value < 0) value = -value;
      if (value > last) value = 2 * last - value;
      x[p] = static_cast<std::uint16_t>(std::clamp(std::nearbyint(value), 0.0, last));
    }
    return x;
  }

  void told(const Observation& observation, Asker made_for) override {
    const Known trial{observation.index, history_.objective(observation.index)};
    if (!made_for) {
      if (members_.size() < start_) members_.push_back(trial);
    } else if (trial.objective <= members_[*made_for].objective) {
      members_[*made_for] = trial;
    }
  }

  Options options_;
  std::size_t turn_ = 0;
  std::vector<Known> members_;
};

}  // namespace

StrategyEntry diff_evo_entry() {
  return entry_of<DifferentialEvolution>("diff_evo",
                                         "differential evolution on positions of values, towards the better members",
                                         "Storn, Price, \"Differential evolution\", J. Global Optimization 11 (1997)");
}

}  // namespace tuner::search
