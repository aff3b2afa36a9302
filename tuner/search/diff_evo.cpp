#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <tuner/search/nearest_valid.hpp>
#include <tuner/search/registry.hpp>
#include <tuner/search/spread.hpp>

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
      : BasicStrategy(space, options),
        options_(own),
        spread_(space),
        population_(std::clamp<std::size_t>(planned_trials() / 5, 4, own.population)),
        width_(space.parameters().size()) {}

 private:
  std::optional<Index> next() override {
    target_.reset();
    if (made_ < population_) return spread_.next(history_, random_);
    if (members_.size() < 4) return std::nullopt;
    for (int attempt = 0; attempt < 8; ++attempt) {
      turn_ = (turn_ + 1) % members_.size();
      target_ = turn_;
      const auto trial = nearest_valid(space(), random_, mutant(turn_));
      if (trial && history_.is_fresh(*trial)) return trial;
    }
    return nearest_fresh(history_, random_, members_[turn_].index);
  }

  EnumeratedSpace::Digits mutant(std::size_t target) {
    EnumeratedSpace::Digits x(width_), best(width_), a(width_), b(width_);
    space().digits(members_[target].index, x);
    std::size_t leader = random_.below(members_.size());  // one of the better half, not always the best
    for (std::size_t i = 0; i < options_.greed; ++i) {
      const std::size_t other = random_.below(members_.size());
      if (members_[other].objective < members_[leader].objective) leader = other;
    }
    space().digits(members_[leader].index, best);
    space().digits(members_[random_.below(members_.size())].index, a);
    space().digits(members_[random_.below(members_.size())].index, b);
    const double f = random_.uniform(0.5, 1.0) * options_.factor;
    const std::size_t always = random_.below(std::max<std::size_t>(width_, 1));
    for (std::size_t p = 0; p < width_; ++p) {
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

  void proposed(Index index) override {
    ++made_;
    spread_.seen(index);
    if (target_) trial_of_[index] = *target_;
  }

  void told(const Observation& observation) override {
    const Known trial{observation.index, history_.objective(observation.index)};
    const auto made_for = trial_of_.find(trial.index);
    if (made_for == trial_of_.end()) {
      if (members_.size() < population_) members_.push_back(trial);
      return;
    }
    Known& member = members_[made_for->second];
    if (trial.objective <= member.objective) member = trial;
    trial_of_.erase(made_for);
  }

  Options options_;
  Spread spread_;
  std::size_t population_;
  std::size_t width_;
  std::size_t made_ = 0;
  std::size_t turn_ = 0;
  std::optional<std::size_t> target_;
  std::vector<Known> members_;
  std::unordered_map<Index, std::size_t> trial_of_;  // pending trials and the members they compete with
};

}  // namespace

StrategyEntry diff_evo_entry() {
  return entry_of<DifferentialEvolution>("diff_evo",
                                         "differential evolution on positions of values, towards the better members",
                                         "Storn, Price, \"Differential evolution\", J. Global Optimization 11 (1997)");
}

}  // namespace tuner::search
