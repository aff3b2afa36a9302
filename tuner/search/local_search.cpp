// Local searches as chains. Each chain walks on results and returns the configuration that it needs next. A strategy
// runs as many chains as proposals are outstanding, so that nothing waits; with one, it is the textbook algorithm.
// Known configurations cost a chain nothing.

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <tuner/search/registry.hpp>

namespace tuner::search {
namespace {

constexpr std::size_t kFreeSteps = 2000;  // on known configurations, before a chain counts as stuck

/// Starts, and restarts, from the best of some random configurations.
class Chain {
 public:
  Chain(History& history, Random& random, std::size_t samples) : history_(history), random_(random), samples_(samples) {
    restart();
  }
  virtual ~Chain() = default;
  /// Walks over known configurations and returns the fresh one that it reaches. Returns nullopt when it needs a pending
  /// one, or when it was stuck in known ones and has restarted.
  std::optional<Index> walk();

 protected:
  /// The configuration whose result this chain needs next.
  Index wanted() const { return wanted_; }
  /// Begins a new walk at \p best and returns the configuration wanted first.
  virtual Index begin(const Known& best) = 0;
  /// Takes the result of wanted(), infinity for a failure. Returns the configuration wanted next; nullopt: restart.
  virtual std::optional<Index> step(double objective) = 0;

  History& history_;
  Random& random_;

 private:
  void advance(double objective);
  void restart() {
    left_ = samples_;
    wanted_ = history_.anywhere(random_);
  }

  std::size_t samples_;
  std::size_t left_ = 0;  // samples still to take
  Index wanted_ = 0;
  Known best_;  // the best sample
};

void Chain::advance(double objective) {
  if (left_ == 0) {
    const auto next = step(objective);
    return next ? void(wanted_ = *next) : restart();
  }
  if (left_ == samples_ || objective < best_.objective) best_ = {wanted_, objective};
  wanted_ = --left_ > 0 ? history_.anywhere(random_) : begin(best_);
}

std::optional<Index> Chain::walk() {
  for (std::size_t step = 0; step < kFreeSteps; ++step) {
    if (history_.is_fresh(wanted_)) return wanted_;
    if (history_.state(wanted_) == State::pending) return std::nullopt;
    advance(history_.objective(wanted_));
  }
  restart();
  return std::nullopt;
}

/// A strategy with chains of one class, constructed from history, randomness, its Options and the planned trials.
template <typename Walker>
class ChainsOf final : public BasicStrategy {
 public:
  using Options = typename Walker::Options;
  ChainsOf(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), own_(own) {}

 private:
  std::optional<Index> next() override {
    constexpr std::size_t most = 64;
    for (const auto& chain : chains_)
      if (const auto wanted = chain->walk()) return wanted;
    if (chains_.size() == most) return std::nullopt;
    return chains_.emplace_back(std::make_unique<Walker>(history_, random_, own_, planned_trials()))->walk();
  }

  Options own_;
  std::vector<std::unique_ptr<Chain>> chains_;
};

/// Climbs to a local optimum by first improvement: tries neighbours in random order and moves to the first better one.
/// Derived classes choose where to continue from there.
class Climber : public Chain {
 public:
  Climber(History& history, Random& random, std::size_t samples, Neighbourhood kind)
      : Chain(history, random, samples), kind_(kind) {}

 protected:
  /// Where the next climb begins, after the local optimum here_; nullopt: at the best of new samples.
  virtual std::optional<Index> leave() = 0;

  /// A configuration that differs from home_ in about \p parameters values, by valid steps; home_ if it has no
  /// neighbour.
  Index jump(std::size_t parameters) {
    Index to = home_.index;
    for (std::size_t step = 0; step < parameters; ++step) {
      const auto around = history_.space().neighbours(to, Neighbourhood::hamming);
      if (around.empty()) break;
      to = around[random_.below(around.size())];
    }
    return to;
  }

  Known here_;
  Known home_;                // jumps start here: the best sample, later an optimum
  std::size_t failures_ = 0;  // climbs without a better result

 private:
  Index begin(const Known& best) final {
    home_ = best;
    climbing_ = false;
    failures_ = 0;
    return best.index;
  }
  std::optional<Index> step(double objective) final {
    if (!climbing_ || objective < here_.objective) {
      climbing_ = true;
      here_ = {wanted(), objective};
      around_ = history_.space().neighbours(here_.index, kind_);
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
  std::vector<Index> around_;  // neighbours not tried yet
};

Neighbourhood neighbourhood(bool adjacent) { return adjacent ? Neighbourhood::adjacent : Neighbourhood::hamming; }

/// Climbs again and again, each time from the best of a few random configurations.
class Restarts final : public Climber {
 public:
  struct Options {
    Option<std::size_t> samples{"samples", 8, 1, 1e6};
    Option<bool> adjacent{"adjacent", false, 0, 1};
    auto all() { return std::tie(samples, adjacent); }
  };
  Restarts(History& history, Random& random, const Options& options, std::size_t)
      : Climber(history, random, options.samples, neighbourhood(options.adjacent)) {}

 private:
  std::optional<Index> leave() override { return std::nullopt; }
};

/// Jumps from the best local optimum; restarts when that stops helping.
class Iterated final : public Climber {
 public:
  struct Options {
    Option<std::size_t> samples{"samples", 8, 1, 1e6};     // random configurations before the first climb
    Option<std::size_t> jump{"jump", 2, 1, 1000};          // parameters changed to leave a local optimum
    Option<std::size_t> patience{"patience", 20, 1, 1e6};  // climbs without an improvement before a restart
    Option<bool> adjacent{"adjacent", false, 0, 1};
    auto all() { return std::tie(samples, jump, patience, adjacent); }
  };
  Iterated(History& history, Random& random, const Options& options, std::size_t)
      : Climber(history, random, options.samples, neighbourhood(options.adjacent)), options_(options) {}

 private:
  std::optional<Index> leave() override {
    if (here_.objective < home_.objective) failures_ = 0;
    if (here_.objective <= home_.objective) home_ = here_;
    // jumps get longer while they find nothing better
    if (++failures_ <= options_.patience) return jump(options_.jump + failures_ / 4);
    return std::nullopt;
  }

  Options options_;
};

/// Monte Carlo over local optima: jump, climb to the local optimum, accept it by Metropolis' rule.
class Hops final : public Climber {
 public:
  struct Options {
    Option<double> temperature{"temperature", 0.1, 1e-9, 1e9};  // relative loss accepted with probability 1/e
    Option<std::size_t> samples{"samples", 8, 1, 1e6};
    Option<std::size_t> jump{"jump", 2, 1, 1000};
    auto all() { return std::tie(temperature, samples, jump); }
  };
  Hops(History& history, Random& random, const Options& options, std::size_t)
      : Climber(history, random, options.samples, Neighbourhood::adjacent), options_(options) {}

 private:
  std::optional<Index> leave() override {
    const double loss = (here_.objective - home_.objective) / std::abs(home_.objective);
    const bool better = here_.objective <= home_.objective;
    if (better || (std::isfinite(loss) && random_.chance(std::exp(-loss / options_.temperature)))) home_ = here_;
    const Index to = jump(options_.jump);
    return to == home_.index ? history_.anywhere(random_) : to;
  }

  Options options_;
};

/// Starts from the best of some random configurations. Accepts a worse neighbour with probability exp(-loss /
/// temperature). The unit of the loss is the distance from the best to the median of the known results, so that
/// temperatures mean the same for every kernel. The temperature falls geometrically from hot to cold; then the chain
/// starts hot again from its best configuration.
class Annealing final : public Chain {
 public:
  struct Options {
    Option<double> hot{"hot", 0.1, 1e-9, 1e9};
    Option<double> cold{"cold", 0.01, 1e-9, 1e9};
    Option<std::size_t> steps{"steps", 0, 0, 1e9};  // 0: the number of planned trials
    Option<std::size_t> samples{"samples", 8, 1, 1e6};
    auto all() { return std::tie(hot, cold, steps, samples); }
  };
  Annealing(History& history, Random& random, const Options& options, std::size_t planned)
      : Chain(history, random, options.samples),
        options_(options),
        steps_(static_cast<double>(options.steps > 0 ? options.steps : std::max<std::size_t>(20, planned))) {}

 private:
  Index begin(const Known& best) override {
    here_ = best_ = best;
    until_scaled_ = 0;
    reheat();
    return neighbour();
  }
  std::optional<Index> step(double objective) override {
    if (draw_acceptance(objective)) here_ = {wanted(), objective};
    if (objective < best_.objective) {
      best_ = {wanted(), objective};
      rejected_ = 0;
    }
    temperature_ *= std::pow(options_.cold / options_.hot, 1 / steps_);
    if (temperature_ < options_.cold || ++rejected_ > steps_) reheat();
    return neighbour();
  }

  bool draw_acceptance(double objective) {
    if (objective <= here_.objective) return true;
    if (!std::isfinite(objective)) return false;
    if (!std::isfinite(here_.objective)) return true;
    if (until_scaled_-- == 0) scale();
    const double loss = (objective - here_.objective) / scale_;
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
    if (std::isfinite(best_.objective)) here_ = best_;
  }

  /// Prefers fresh ones: known ones teach nothing.
  Index neighbour() {
    const auto kind = random_.chance(0.5) ? Neighbourhood::adjacent : Neighbourhood::hamming;
    std::vector<Index> around = history_.space().neighbours(here_.index, kind);
    if (around.empty()) around = history_.space().neighbours(here_.index, Neighbourhood::hamming);
    std::vector<Index> fresh;
    for (const Index index : around)
      if (history_.is_fresh(index)) fresh.push_back(index);
    if (!fresh.empty()) return fresh[random_.below(fresh.size())];
    if (!around.empty() && !random_.chance(0.1)) return around[random_.below(around.size())];
    return history_.random_fresh(random_).value_or(here_.index);
  }

  Options options_;
  double steps_;
  double temperature_ = 0;
  Known here_;
  Known best_;
  double rejected_ = 0;
  double scale_ = 1;
  int until_scaled_ = 0;
};

}  // namespace

StrategyInfo mls_entry() {
  return entry_of<ChainsOf<Restarts>>(
      "mls",
      "multi-start local search: climbs to a local optimum from the best of some random configurations, repeatedly",
      "Marti, Resende, Ribeiro, \"Multi-start methods for combinatorial optimization\", EJOR 226 (2013)");
}

StrategyInfo greedy_ils_entry() {
  return entry_of<ChainsOf<Iterated>>(
      "greedy_ils", "iterated local search: climbs, jumps from the best local optimum, climbs again",
      "Lourenco, Martin, Stutzle, \"Iterated local search\", Handbook of Metaheuristics (2003)");
}

StrategyInfo basin_hopping_entry() {
  return entry_of<ChainsOf<Hops>>(
      "basin_hopping",
      "hops between local optima of the adjacent neighbourhood, accepting worse ones by Metropolis' rule",
      "Wales, Doye, \"Global optimization by basin-hopping\", J. Phys. Chem. A 101 (1997)");
}

StrategyInfo simulated_annealing_entry() {
  return entry_of<ChainsOf<Annealing>>(
      "simulated_annealing", "one neighbour at a time, worse ones accepted ever more rarely",
      "Kirkpatrick, Gelatt, Vecchi, \"Optimization by simulated annealing\", Science 220 (1983)");
}

}  // namespace tuner::search
