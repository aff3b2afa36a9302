#include <tuner/search/basic_strategy.hpp>

#include <algorithm>
#include <cmath>

namespace tuner::search {
namespace {

constexpr std::size_t kUsualTrials = 200;
constexpr std::size_t kSpreadDraws = 24;  // random configurations, of which a spread start takes the best
constexpr std::size_t kUsualDraws = 300;  // the same, if it has to be usual too

}  // namespace

Spread::Spread(const EnumeratedSpace& space) : space_(space) {
  for (const TuningParameter& parameter : space.parameters()) uses_.emplace_back(parameter.values.size(), 0u);
}

void Spread::seen(Index index) {
  for (std::size_t p = 0; p < uses_.size(); ++p) ++uses_[p][space_.digit(index, p)];
  seen_.push_back(index);
}

/// Takes the best of random draws, and moves to better neighbours until there is none.
std::optional<Index> Spread::most_usual(History& history, Random& random, const Habits& habits) const {
  std::optional<Index> best;
  double least = HUGE_VAL;
  const auto try_one = [&](Index index) {
    const double oddity = habits.oddity(index);
    if (oddity >= least || !history.is_fresh(index)) return false;
    least = oddity;
    best = index;
    return true;
  };
  for (std::size_t i = 0; i < kUsualDraws; ++i) {
    const auto drawn = history.random_fresh(random);
    if (!drawn) break;
    try_one(*drawn);
  }
  for (bool improves = best.has_value(); improves;) {
    improves = false;
    std::vector<Index> neighbours = space_.neighbours(*best, Neighbourhood::hamming);
    random.shuffle(neighbours);  // many are equally usual
    for (const Index neighbour : neighbours)
      if (try_one(neighbour)) improves = true;
  }
  return best;
}

std::optional<Index> Spread::next(History& history, Random& random, const Habits* habits) {
  if (habits && seen_.empty()) return most_usual(history, random, *habits);
  std::optional<Index> best;
  double best_merit = 0;
  const std::size_t width = uses_.size();
  EnumeratedSpace::Digits mine(width);
  EnumeratedSpace::Digits other(width);
  const std::size_t looked_back = std::min<std::size_t>(seen_.size(), 64);
  const std::size_t candidates = seen_.empty() ? 1 : habits ? kUsualDraws : kSpreadDraws;
  for (std::size_t i = 0; i < candidates; ++i) {
    const auto candidate = history.random_fresh(random);
    if (!candidate) return std::nullopt;
    space_.digits(*candidate, mine);
    double crowding = 0;
    for (std::size_t p = 0; p < width; ++p) {
      const std::size_t values = uses_[p].size();
      if (values > 1)
        crowding += uses_[p][mine[p]] * static_cast<double>(values) / static_cast<double>(seen_.size() + 1);
    }
    double nearest = static_cast<double>(width);
    for (std::size_t s = seen_.size() - looked_back; s < seen_.size(); ++s) {
      space_.digits(seen_[s], other);
      double distance = 0;
      for (std::size_t p = 0; p < width; ++p)
        if (mine[p] != other[p])
          distance += 0.5 + 0.5 * std::abs(mine[p] - other[p]) / static_cast<double>(uses_[p].size() - 1);
      nearest = std::min(nearest, distance);
    }
    const double merit = nearest - crowding - (habits ? habits->oddity(*candidate) : 0);
    if (!best || merit > best_merit) {
      best = candidate;
      best_merit = merit;
    }
  }
  return best;
}

BasicStrategy::BasicStrategy(const EnumeratedSpace& space, const StrategyOptions& options)
    : history_(space), random_(options.seed), first_(options.first.begin(), options.first.end()), spread_(space) {
  BasicStrategy::plan_for(options.expected_trials.value_or(kUsualTrials));
}

void BasicStrategy::plan_for(std::size_t trials) {
  planned_trials_ = space().is_open() ? trials : std::min(space().size(), trials);
}

EnumeratedSpace::Digits BasicStrategy::digits(Index index) const {
  EnumeratedSpace::Digits out(space().parameters().size());
  space().digits(index, out);
  return out;
}

std::optional<Index> BasicStrategy::next_first() {
  while (!first_.empty()) {
    const Index index = first_.front();
    first_.pop_front();
    if (space().has(index) && history_.is_fresh(index)) return index;
  }
  return std::nullopt;
}

std::vector<Index> BasicStrategy::propose(std::size_t n) {
  std::vector<Index> out;
  while (out.size() < n && history_.fresh_count() > 0) {
    origin_.reset();
    std::optional<Index> wanted = next_first();
    if (!wanted) wanted = starting() ? spread_.next(history_, random_, habits_) : next();
    if (!wanted || !history_.is_fresh(*wanted)) wanted = history_.random_fresh(random_);
    if (!wanted) break;  // an open space in which no more were found
    if (starting()) spread_.seen(*wanted);
    if (origin_) origins_[*wanted] = *origin_;
    history_.propose(*wanted);
    ++proposed_;
    out.push_back(*wanted);
  }
  return out;
}

void BasicStrategy::learn(std::span<const Observation> observations) {
  for (const Observation& observation : observations) {
    if (!space().has(observation.index)) continue;
    Origin origin;
    if (const auto proposed = origins_.extract(observation.index)) origin = proposed.mapped();
    if (observation.withdrawn) {
      history_.withdraw(observation.index);
      continue;
    }
    own_ = history_.state(observation.index) == State::pending;
    history_.learn(observation);
    on_result(observation, origin);
  }
}

}  // namespace tuner::search
