#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <tuner/search/nearest_valid.hpp>
#include <tuner/search/registry.hpp>
#include <tuner/search/spread.hpp>

namespace tuner::search {

namespace {

struct Particle {
  std::vector<double> position;  // of values, one a parameter
  std::vector<double> velocity;
  std::vector<double> best_position;
  double best_objective = HUGE_VAL;
  bool flying = false;  // its result is pending
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
      : BasicStrategy(space, options),
        options_(own),
        spread_(space),
        size_(std::clamp<std::size_t>(planned_trials() / 5, 3, own.particles)),
        width_(space.parameters().size()) {}

 private:
  std::optional<Index> next() override {
    mover_.reset();
    if (particles_.size() < size_) {
      const auto at = spread_.next(history_, random_);
      if (at) release(*at);
      return at;
    }
    for (std::size_t attempt = 0; attempt < 2 * size_; ++attempt) {
      turn_ = (turn_ + 1) % size_;
      if (particles_[turn_].flying) continue;
      if (const auto at = move(particles_[turn_])) {
        mover_ = turn_;
        return at;
      }
    }
    return std::nullopt;
  }

  void release(Index at) {
    Particle particle;
    EnumeratedSpace::Digits digits(width_);
    space().digits(at, digits);
    particle.position.assign(digits.begin(), digits.end());
    particle.best_position = particle.position;
    for (std::size_t p = 0; p < width_; ++p) particle.velocity.push_back(random_.uniform(-0.25, 0.25) * last(p));
    mover_ = particles_.size();
    particles_.push_back(std::move(particle));
  }

  double last(std::size_t p) const { return static_cast<double>(space().parameters()[p].values.size() - 1); }

  /// Where the particle's next step lands, as a fresh configuration.
  std::optional<Index> move(Particle& particle) {
    const std::vector<double>& leader = leader_position();
    EnumeratedSpace::Digits digits(width_);
    for (std::size_t p = 0; p < width_; ++p) {
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
      digits[p] = static_cast<std::uint16_t>(std::nearbyint(x));
    }
    const auto valid = nearest_valid(space(), random_, digits);
    if (!valid) return std::nullopt;
    // A known place has nothing to tell: the particle is turned away to one beside it.
    const auto fresh = nearest_fresh(history_, random_, *valid);
    if (!fresh) return std::nullopt;
    space().digits(*fresh, digits);
    for (std::size_t p = 0; p < width_; ++p)
      if (std::nearbyint(particle.position[p]) != digits[p]) particle.position[p] = digits[p];
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

  void proposed(Index index) override {
    spread_.seen(index);
    if (!mover_) return;
    particles_[*mover_].flying = true;
    flight_[index] = *mover_;
  }

  void told(const Observation& observation) override {
    const auto flight = flight_.find(observation.index);
    if (flight == flight_.end()) return;
    Particle& particle = particles_[flight->second];
    particle.flying = false;
    flight_.erase(flight);
    const double objective = history_.objective(observation.index);
    if (!(objective < particle.best_objective)) return;
    particle.best_objective = objective;
    EnumeratedSpace::Digits digits(width_);
    space().digits(observation.index, digits);
    particle.best_position.assign(digits.begin(), digits.end());
  }

  Options options_;
  Spread spread_;
  std::size_t size_;
  std::size_t width_;
  std::size_t turn_ = 0;
  std::optional<std::size_t> mover_;
  std::vector<Particle> particles_;
  std::unordered_map<Index, std::size_t> flight_;
};

}  // namespace

StrategyEntry pso_entry() {
  return entry_of<ParticleSwarm>("pso", "particle swarm on positions of values, informed by a few random particles",
                                 "Kennedy, Eberhart, \"Particle swarm optimization\", ICNN 1995; Clerc, Kennedy, IEEE "
                                 "Trans. Evol. Comp. 6 (2002)");
}

}  // namespace tuner::search
