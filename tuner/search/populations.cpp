// Populations: genetic algorithm, differential evolution, particle swarm.

#include <algorithm>
#include <cmath>

#include <tuner/search/candidates.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {
namespace {

/// A tournament: draws \p count members and returns the one with the smallest objective.
template <typename Member>
const Member& best_drawn(Random& random, const std::vector<Member>& members, std::size_t count) {
  const Member* best = &members[random.below(members.size())];
  for (std::size_t i = 1; i < count; ++i) {
    const Member& other = members[random.below(members.size())];
    if (other.objective < best->objective) best = &other;
  }
  return *best;
}

/// Steady state: the population is the best of all known results, and each proposal is a new child of it. Nothing waits
/// for the end of a generation.
class GeneticAlgorithm final : public BasicStrategy {
 public:
  struct Options {
    Option<std::size_t> population{"population", 20, 2, 1e6};
    Option<std::size_t> tournament{"tournament", 2, 1, 1000};
    Option<double> mutation{"mutation", 1.2, 0, 1000};  // number of parameters changed in a child
    auto all() { return std::tie(population, tournament, mutation); }
  };
  GeneticAlgorithm(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), options_(own) {
    start_ = std::min<std::size_t>(own.population, std::max<std::size_t>(4, planned_trials() / 5));
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

  void on_result(const Observation& observation, Origin) override {
    const double objective = history_.objective(observation.index);
    std::erase_if(members_, [&](const Known& member) { return member.index == observation.index; });
    if (!std::isfinite(objective)) return;
    const Known member{observation.index, objective};
    members_.insert(std::ranges::upper_bound(members_, objective, {}, &Known::objective), member);
    if (members_.size() > options_.population) members_.pop_back();
  }

  Index parent() { return best_drawn(random_, members_, options_.tournament).index; }

  /// Changes each parameter with a choice with probability mutation / number of such parameters.
  void mutate(EnumeratedSpace::Digits& child) {
    double choices = 0;
    for (const TuningParameter& parameter : space().parameters()) choices += parameter.values.size() > 1;
    for (std::size_t p = 0; p < child.size(); ++p) {
      const int count = static_cast<int>(space().parameters()[p].values.size());
      if (count < 2 || !random_.chance(options_.mutation / choices)) continue;
      const int near = child[p] + (random_.chance(0.5) ? 1 : -1);
      const bool anywhere = random_.chance(0.5) || near < 0 || near >= count;
      child[p] = static_cast<std::uint16_t>(anywhere ? random_.below(static_cast<std::size_t>(count))
                                                     : static_cast<std::size_t>(near));
    }
  }

  Options options_;
  std::vector<Known> members_;  // best first
};

/// DE/current-to-best/1/bin on positions in the lists of values. A trial competes with its member once its result is
/// known.
class DifferentialEvolution final : public BasicStrategy {
 public:
  struct Options {
    Option<std::size_t> population{"population", 20, 4, 1e6};
    Option<double> factor{"factor", 0.7, 0, 100};
    Option<double> crossover{"crossover", 0.6, 0, 1};
    Option<std::size_t> greed{"greed", 2, 0, 1000};  // rivals in the draw for the leader
    Option<double> jitter{"jitter", 1.2, 0, 1000};   // steps
    auto all() { return std::tie(population, factor, crossover, greed, jitter); }
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
      origin_ = turn_;
      const auto trial = nearest_valid(space(), random_, mutant(turn_));
      if (trial && history_.is_fresh(*trial)) return trial;
    }
    return nearest_fresh(history_, random_, members_[turn_].index);
  }

  EnumeratedSpace::Digits mutant(std::size_t target) {
    EnumeratedSpace::Digits x = digits(members_[target].index);
    // one of the better half, not always the best
    const EnumeratedSpace::Digits best = digits(best_drawn(random_, members_, options_.greed + 1).index);
    const EnumeratedSpace::Digits a = digits(members_[random_.below(members_.size())].index);
    const EnumeratedSpace::Digits b = digits(members_[random_.below(members_.size())].index);
    const double f = random_.uniform(0.5, 1.0) * options_.factor;
    const std::size_t always = random_.below(std::max<std::size_t>(x.size(), 1));
    for (std::size_t p = 0; p < x.size(); ++p) {
      if (p != always && !random_.chance(options_.crossover)) continue;
      const auto last = static_cast<double>(space().parameters()[p].values.size() - 1);
      double value = best[p] + f * (static_cast<double>(a[p]) - static_cast<double>(b[p]));
      value += random_.uniform(-0.5, 0.5) * options_.jitter;  // else short lists of values become all equal
      if (value < 0) value = -value;
      if (value > last) value = 2 * last - value;
      x[p] = static_cast<std::uint16_t>(std::clamp(std::nearbyint(value), 0.0, last));
    }
    return x;
  }

  void on_result(const Observation& observation, Origin made_for) override {
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

struct Particle {
  std::vector<double> position;  // in the list of values, for each parameter
  std::vector<double> velocity;
  std::vector<double> best_position;
  double objective = HUGE_VAL;  // at best_position
  Index latest = 0;             // where it was sent last
};

/// Particles move towards their own best position and the best of some informants. A particle moves once its own result
/// is known.
class ParticleSwarm final : public BasicStrategy {
 public:
  struct Options {
    Option<std::size_t> particles{"particles", 20, 3, 1e6};
    Option<double> inertia{"inertia", 0.6, 0, 100};
    Option<double> own{"own", 1.2, 0, 100};        // weight of the particle's own best
    Option<double> others{"others", 1.5, 0, 100};  // weight of the best of its informants
    Option<std::size_t> informants{"informants", 6, 1, 1000};
    auto all() { return std::tie(particles, inertia, own, others, informants); }
  };
  ParticleSwarm(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), options_(own) {
    start_ = std::clamp<std::size_t>(planned_trials() / 5, 3, own.particles);
  }

 private:
  std::optional<Index> next() override {
    for (std::size_t attempt = 0; attempt < 2 * particles_.size(); ++attempt) {
      turn_ = (turn_ + 1) % particles_.size();
      Particle& particle = particles_[turn_];
      if (history_.state(particle.latest) == State::pending) continue;
      if (const auto at = move(particle)) {
        origin_ = turn_;
        particle.latest = *at;
        return at;
      }
    }
    return std::nullopt;
  }

  std::vector<double> position(Index index) const {
    const EnumeratedSpace::Digits at = digits(index);
    return {at.begin(), at.end()};
  }

  double last(std::size_t p) const { return static_cast<double>(space().parameters()[p].values.size() - 1); }

  /// The next step of the particle, as a fresh configuration.
  std::optional<Index> move(Particle& particle) {
    // The best of a few particles, drawn at each step: the swarm gathers more slowly than around one best particle.
    const std::vector<double>& leader = best_drawn(random_, particles_, options_.informants).best_position;
    EnumeratedSpace::Digits landed(leader.size());
    for (std::size_t p = 0; p < landed.size(); ++p) {
      double& v = particle.velocity[p];
      double& x = particle.position[p];
      v = options_.inertia * v + options_.own * random_.uniform() * (particle.best_position[p] - x) +
          options_.others * random_.uniform() * (leader[p] - x);
      v = std::clamp(v, -0.5 * last(p) - 0.5, 0.5 * last(p) + 0.5);
      x += v;
      if (x < 0 || x > last(p)) {
        x = std::clamp(x, 0.0, last(p));
        v = -0.5 * v;
      }
      landed[p] = static_cast<std::uint16_t>(std::nearbyint(x));
    }
    const auto valid = nearest_valid(space(), random_, landed);
    if (!valid) return std::nullopt;
    // A known configuration teaches nothing: the particle goes to a fresh one nearby.
    const auto fresh = nearest_fresh(history_, random_, *valid);
    if (!fresh) return std::nullopt;
    landed = digits(*fresh);
    for (std::size_t p = 0; p < landed.size(); ++p)
      if (std::nearbyint(particle.position[p]) != landed[p]) particle.position[p] = landed[p];
    return fresh;
  }

  void on_result(const Observation& observation, Origin mover) override {
    const Index index = observation.index;
    const double objective = history_.objective(index);
    if (mover) {
      Particle& particle = particles_[*mover];
      if (!(objective < particle.objective)) return;
      particle.objective = objective;
      particle.best_position = position(index);
    } else if (own_ && particles_.size() < start_) {
      Particle& particle = particles_.emplace_back(Particle{position(index), {}, position(index), objective, index});
      for (std::size_t p = 0; p < particle.position.size(); ++p)
        particle.velocity.push_back(random_.uniform(-0.25, 0.25) * last(p));
    }
  }

  Options options_;
  std::size_t turn_ = 0;
  std::vector<Particle> particles_;
};

}  // namespace

StrategyInfo genetic_algorithm_entry() {
  return entry_of<GeneticAlgorithm>(
      "genetic_algorithm",
      "steady-state genetic algorithm: tournament, uniform crossover, mutation of about one parameter",
      "Syswerda, \"A study of reproduction in generational and steady-state genetic algorithms\", FOGA 1 (1991)");
}

StrategyInfo diff_evo_entry() {
  return entry_of<DifferentialEvolution>("diff_evo",
                                         "differential evolution on positions of values, towards the better members",
                                         "Storn, Price, \"Differential evolution\", J. Global Optimization 11 (1997)");
}

StrategyInfo pso_entry() {
  return entry_of<ParticleSwarm>("pso", "particle swarm on positions of values, informed by a few random particles",
                                 "Kennedy, Eberhart, \"Particle swarm optimization\", ICNN 1995; Clerc, Kennedy, IEEE "
                                 "Trans. Evol. Comp. 6 (2002)");
}

}  // namespace tuner::search
