#include <algorithm>
#include <cmath>

#include <tuner/search/nearest_valid.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

struct Particle {
  std::vector<double> position;  // of values, one a parameter
  std::vector<double> velocity;
  std::vector<double> best_position;
  double best_objective = HUGE_VAL;
  Index latest = 0;  // where it was sent last
};

/// Particles pulled towards their own best and the best of their ring neighbours. A particle moves on as soon as its
/// own result is known.
class ParticleSwarm final : public BasicStrategy {
 public:
  struct Options {
    std::size_t particles = 20;
    double inertia = 0.6;
    double own = 1.2;     // pull of the particle's own best
    double others = 1.5;  // and of the best of its informants
    std::size_t informants = 6;
    void visit(auto&& option) {
      option("particles", particles, 3, 1e6);
      option("inertia", inertia, 0, 100);
      option("own", own, 0, 100);
      option("others", others, 0, 100);
      option("informants", informants, 1, 1000);
    }
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
        asker_ = turn_;
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

  /// Where the particle's next step lands, as a fresh configuration.
  std::optional<Index> move(Particle& particle) {
    const std::vector<double>& leader = leader_position();
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
    // A known place has nothing to tell: the particle is turned away to one beside it.
    const auto fresh = nearest_fresh(history_, random_, *valid);
    if (!fresh) return std::nullopt;
    landed = digits(*fresh);
    for (std::size_t p = 0; p < landed.size(); ++p)
      if (std::nearbyint(particle.position[p]) != landed[p]) particle.position[p] = landed[p];
    return fresh;
  }

  /// The best of a few particles drawn anew at every step: slower to gather than one best of all.
  const std::vector<double>& leader_position() {
    std::size_t leader = random_.below(particles_.size());
    for (std::size_t i = 1; i < options_.informants; ++i) {
      const std::size_t other = random_.below(particles_.size());
      if (particles_[other].best_objective < particles_[leader].best_objective) leader = other;
    }
    return particles_[leader].best_position;
  }

  void told(const Observation& observation, Asker mover) override {
    const Index index = observation.index;
    const double objective = history_.objective(index);
    if (mover) {
      Particle& particle = particles_[*mover];
      if (!(objective < particle.best_objective)) return;
      particle.best_objective = objective;
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

StrategyEntry pso_entry() {
  return entry_of<ParticleSwarm>("pso", "particle swarm on positions of values, informed by a few random particles",
                                 "Kennedy, Eberhart, \"Particle swarm optimization\", ICNN 1995; Clerc, Kennedy, IEEE "
                                 "Trans. Evol. Comp. 6 (2002)");
}

}  // namespace tuner::search
