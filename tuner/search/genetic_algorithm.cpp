#include <algorithm>
#include <cmath>

#include <tuner/search/nearest_valid.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

/// Steady state: the population is the best of all that is known, every proposal is a new child of it. Nothing waits
/// for a generation to end.
class GeneticAlgorithm final : public BasicStrategy {
 public:
  struct Options {
    std::size_t population = 20;
    std::size_t tournament = 2;
    double mutation = 1.2;  // parameters changed in a child
    void visit(auto&& option) {
      option("population", population, 2, 1e6);
      option("tournament", tournament, 1, 1000);
      option("mutation", mutation, 0, 1000);
    }
  };
  GeneticAlgorithm(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), options_(own) {
    start_ = std::min(own.population, std::max<std::size_t>(4, planned_trials() / 5));
  }

 private:
  std::optional<Index> next() override {
    if (members_.size() < 2) return std::nullopt;
    for (int attempt = 0; attempt < 8; ++attempt) {
      EnumeratedSpace::Digits child = digits(parent());
      const EnumeratedSpace::Digits other = digits(parent());
      for (std::size_t p = 0; p < child.size(); ++p)
        if (random_.chance(0.5)) child[p] = other[p];
      mutate(child);
      const auto valid = nearest_valid(space(), random_, child);
      if (valid && history_.is_fresh(*valid)) return valid;
    }
    return nearest_fresh(history_, random_, parent());
  }

  void told(const Observation& observation, Asker) override {
    const double objective = history_.objective(observation.index);
    std::erase_if(members_, [&](const Known& member) { return member.index == observation.index; });
    if (!std::isfinite(objective)) return;
    const Known member{observation.index, objective};
    members_.insert(std::upper_bound(members_.begin(), members_.end(), member,
                                     [](const Known& a, const Known& b) { return a.objective < b.objective; }),
                    member);
    if (members_.size() > options_.population) members_.pop_back();
  }

  /// Tournament: the best of some drawn members.
  Index parent() {
    std::size_t best = members_.size() - 1;
    for (std::size_t i = 0; i < options_.tournament; ++i) best = std::min(best, random_.below(members_.size()));
    return members_[best].index;
  }

  /// Each parameter with a choice changes with probability mutation / number of such parameters.
  void mutate(EnumeratedSpace::Digits& child) {
    double choices = 0;
    for (const TuningParameter& parameter : space().parameters()) choices += parameter.values.size() > 1;
    for (std::size_t p = 0; p < child.size(); ++p) {
      const int count = static_cast<int>(space().parameters()[p].values.size());
      if (count < 2 || !random_.chance(options_.mutation / choices)) continue;
      const int step = random_.chance(0.5) ? 1 : -1;
      const int near = child[p] + step;
      const bool anywhere = random_.chance(0.5) || near < 0 || near >= count;
      child[p] = static_cast<std::uint16_t>(anywhere ? random_.below(static_cast<std::size_t>(count))
                                                     : static_cast<std::size_t>(near));
    }
  }

  Options options_;
  std::vector<Known> members_;  // best first
};

}  // namespace

StrategyEntry genetic_algorithm_entry() {
  return entry_of<GeneticAlgorithm>(
      "genetic_algorithm",
      "steady-state genetic algorithm: tournament, uniform crossover, mutation of about one parameter",
      "Syswerda, \"A study of reproduction in generational and steady-state genetic algorithms\", FOGA 1 (1991)");
}

}  // namespace tuner::search
