#include <tuner/session/batch/size_race.hpp>

#include <algorithm>
#include <cmath>

#include <tuner/core/values/named.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/search/prediction.hpp>

namespace tuner {
namespace {

/// The first search is in the middle of the sizes, and gets this part of the trials.
constexpr double kFirstSearch = 0.22;
constexpr std::size_t kSearches = 7;
/// Configurations that are slower than the best at all searched sizes by this much are out, and all but the first of so
/// many.
constexpr double kOut = 0.2;
constexpr std::size_t kMostRacers = 24;
/// The standard deviation of a time's logarithm, measured again.
constexpr double kNoise = 0.004;
/// A pair is worth a trial if it lowers the regret of its size by so much.
constexpr double kWorthATrial = 0.001;
constexpr std::size_t kMostInAStep = 4;
/// Limits of what is expected before much is known: how different two configurations are, and how slow one is at a size
/// far from those where it was measured.
constexpr double kLeastDeviation = 0.01, kMostDeviation = 0.2, kMostMean = 0.5;
/// The standard deviation of normal numbers over the median of their amounts.
constexpr double kDeviationOfMedian = 1.4826;
/// An unmeasured time counts as so many standard deviations above what is expected.
constexpr double kCaution = 0.5;

double square(double x) { return x * x; }

/// Solves the symmetric positive definite system \p a x = \p b; x takes the place of \p b.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
}

}  // namespace

SizeRace::SizeRace(std::vector<JointSize> sizes, const CoverOptions& options)
    : sizes_(std::move(sizes)), options_(options), levels_(sizes_.size()) {
  const std::size_t n = sizes_.size();
  distances_.resize(n * n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      double sum = 0;
      for (const auto& [name, value] : sizes_[a].sizes)
        sum += square(std::log2(static_cast<double>(value) + 1) -
                      std::log2(static_cast<double>(sizes_[b].sizes.at(name)) + 1));
      distances_[a * n + b] = std::sqrt(sum);
      extent_ = std::max(extent_, distances_[a * n + b]);
    }
  choose_anchors();
}

/// The size in the middle of all, weighted, and then those farthest from the ones before.
void SizeRace::choose_anchors() {
  const std::size_t n = sizes_.size();
  const auto least = [&](const auto& cost) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < n; ++i)
      if (cost(i) < cost(best)) best = i;
    return best;
  };
  anchors_.push_back(least([&](std::size_t i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += sizes_[j].weight * apart(i, j);
    return sum;
  }));
  while (anchors_.size() < std::min(kSearches, n))
    anchors_.push_back(least([&](std::size_t i) {
      double near = HUGE_VAL;
      for (const std::size_t anchor : anchors_) near = std::min(near, apart(i, anchor));
      return -near;
    }));
}

void SizeRace::learn(std::size_t size, const Configuration& configuration, std::optional<double> time) {
  const auto [at, is_new] = ids_.try_emplace(configuration, configurations_.size());
  if (is_new) {
    configurations_.push_back(configuration);
    all_.emplace_back();
  }
  Racer& racer = all_[at->second];
  proposed_.insert({at->second, size});
  if (time && *time > 0) {
    racer.times[size] = std::log(*time);
    racer.failed.erase(size);
  } else {
    racer.failed.insert(size);
    racer.times.erase(size);
  }
}

std::size_t SizeRace::trials() const {
  std::size_t count = 0;
  for (const Racer& one : all_) count += one.times.size() + one.failed.size();
  return count;
}

bool SizeRace::was_tried(Id id, std::size_t size) const { return proposed_.contains({id, size}); }

std::size_t SizeRace::left() const {
  const auto most =
      std::max<std::size_t>(static_cast<std::size_t>(kMostMeasured * double(search_trials_)), sizes_.size());
  return most - std::min(most, trials() - search_trials_);
}

std::optional<SizeRace::Step> SizeRace::next() {
  if (searched_ < anchors_.size()) {
    const double others = anchors_.size() == 1 ? 0 : (1 - kFirstSearch) / double(anchors_.size() - 1);
    const std::size_t anchor = anchors_[searched_];
    visited_.push_back(anchor);
    const double part = searched_++ > 0 ? others : others > 0 ? kFirstSearch : 1;
    return Step{anchor, part};
  }
  if (search_trials_ == 0) search_trials_ = std::max<std::size_t>(trials(), 1);
  if (left() == 0) return std::nullopt;
  if (!last_.empty()) {
    Step step = std::move(last_.front());
    last_.pop_front();
    if (step.measure.size() > left()) step.measure.resize(left());
    return step;
  }
  if (is_settled_) return std::nullopt;
  choose_racers();
  fit();
  if (auto step = visit()) return step;
  return settle();
}

void SizeRace::choose_racers() {
  racers_.clear();
  std::set<Id> chosen;
  for (const std::size_t size : visited_) {
    std::vector<std::pair<double, Id>> there;
    for (Id id = 0; id < all_.size(); ++id)
      if (const auto at = all_[id].times.find(size); at != all_[id].times.end()) there.emplace_back(at->second, id);
    std::ranges::sort(there);
    for (std::size_t i = 0; i < std::min(there.size(), kMostRacers); ++i)
      if (there[i].first <= there.front().first + kOut) chosen.insert(there[i].second);
  }
  racers_.assign(chosen.begin(), chosen.end());
}

/// The levels of all sizes, and how much times vary between sizes. At an anchor, the best has the level.
void SizeRace::fit() {
  for (std::optional<double>& level : levels_) level.reset();
  for (const std::size_t anchor : anchors_)
    for (const Id id : racers_)
      if (const auto at = all_[id].times.find(anchor); at != all_[id].times.end())
        levels_[anchor] = std::min(levels_[anchor].value_or(HUGE_VAL), at->second);
  double of_all = 0, all = 0;
  for (const Id id : racers_)
    for (const std::size_t anchor : anchors_)
      if (const auto at = all_[id].times.find(anchor); at != all_[id].times.end())
        of_all += std::min(at->second - *levels_[anchor], kMostMean), all += 1;
  mean_ = of_all / std::max(all, 1.0);
  // The median, because some change by much, and are not worth another trial.
  std::vector<double> changes;
  for (const Id id : racers_)
    for (const auto& [a, time_a] : all_[id].times)
      for (const auto& [b, time_b] : all_[id].times) {
        if (a >= b || !contains(anchors_, a) || !contains(anchors_, b)) continue;
        const double change = (time_a - *levels_[a]) - (time_b - *levels_[b]);
        changes.push_back(std::abs(change) / std::sqrt(2 * (1 - std::exp(-apart(a, b) / extent_))));
      }
  const double typical = changes.empty() ? 0 : kDeviationOfMedian * median(changes);
  variance_ = square(std::clamp(typical, kLeastDeviation, kMostDeviation));
  for (int sweep = 0; sweep < 2; ++sweep)
    for (const std::size_t size : visited_) {
      if (contains(anchors_, size)) continue;
      double level = 0, weights = 0, least = HUGE_VAL;
      for (const Id id : racers_) {
        const auto at = all_[id].times.find(size);
        if (at == all_[id].times.end()) continue;
        least = std::min(least, at->second);
        const auto there = expected(id, size, size);
        if (!there) continue;
        const double weight = 1 / (square(there->deviation) + square(kNoise));
        level += weight * (at->second - there->mean);
        weights += weight;
      }
      if (weights > 0)
        levels_[size] = level / weights;
      else if (std::isfinite(least))
        levels_[size] = least;
    }
  expected_.clear();
  for (const Id id : racers_)
    for (std::size_t size = 0; size < sizes_.size(); ++size) expected_[id].push_back(expected(id, size, sizes_.size()));
}

std::optional<SizeRace::Expected> SizeRace::expected(Id id, std::size_t size, std::size_t without) const {
  std::vector<std::size_t> places;
  std::vector<double> values;
  for (const auto& [place, time] : all_[id].times) {
    if (!levels_[place] || place == without) continue;
    places.push_back(place);
    values.push_back(time - *levels_[place]);
  }
  if (places.empty()) return std::nullopt;
  const double length = std::max(extent_, 1e-9);
  const auto alike = [&](std::size_t a, std::size_t b) { return variance_ * std::exp(-apart(a, b) / length); };
  const std::size_t n = places.size();
  std::vector<double> matrix(n * n), near(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] = alike(places[i], places[j]) + (i == j ? square(kNoise) : 0);
    near[i] = alike(places[i], size);
  }
  std::vector<double> weights = near;
  solve(matrix, weights);
  Expected result{mean_, 0};
  double explained = 0;
  for (std::size_t i = 0; i < n; ++i) {
    result.mean += weights[i] * (values[i] - mean_);
    explained += weights[i] * near[i];
  }
  result.deviation = std::sqrt(std::max(variance_ - explained, 0.0));
  return result;
}

std::vector<std::pair<Configuration, std::optional<double>>> SizeRace::outlook(std::size_t size) {
  choose_racers();
  fit();
  std::vector<std::pair<Configuration, std::optional<double>>> all;
  for (Id id = 0; id < all_.size(); ++id) {
    const auto there = expected(id, size, sizes_.size());
    if (there || !all_[id].failed.empty())
      all.emplace_back(configurations_[id], there ? std::optional(std::exp(there->mean)) : std::nullopt);
  }
  return all;
}

std::vector<SizeRace::Id> SizeRace::promising(std::size_t size, std::size_t most) const {
  // Where nothing is measured, the first has to be: it is compared with the best that the model expects.
  double best = HUGE_VAL;
  for (const Id id : racers_)
    if (const auto at = all_[id].times.find(size); at != all_[id].times.end() && levels_[size])
      best = std::min(best, at->second - *levels_[size]);
  const bool is_new = !std::isfinite(best);
  std::vector<std::pair<double, Id>> all;
  for (const Id id : racers_) {
    if (was_tried(id, size)) continue;
    const auto& there = expected_.at(id)[size];
    if (!there) continue;
    if (is_new) best = std::min(best, there->mean);
    all.emplace_back(0, id);
  }
  for (auto& [gain, id] : all) {
    const Expected& there = *expected_.at(id)[size];
    gain = -search::expected_improvement({there.mean, there.deviation}, best);
  }
  std::ranges::sort(all);
  std::vector<Id> ids;
  for (const auto& [gain, id] : all)
    if (ids.size() < most && (-gain >= kWorthATrial || (is_new && ids.empty()))) ids.push_back(id);
  return ids;
}

SizeRace::Step SizeRace::measuring(std::size_t size, const std::vector<Id>& ids) {
  Step step{size, 0};
  for (const Id id : ids) {
    proposed_.insert({id, size});
    step.measure.push_back(configurations_[id]);
  }
  return step;
}

std::optional<SizeRace::Step> SizeRace::visit() {
  const std::size_t unvisited = sizes_.size() - visited_.size();
  const std::size_t spare = left() - std::min(left(), unvisited);
  // The searched sizes again, for what was found at the others.
  while (crossed_ < anchors_.size()) {
    const std::size_t anchor = anchors_[crossed_++];
    const std::size_t most = spare / (3 * (anchors_.size() + 1 - crossed_));
    if (const auto ids = promising(anchor, most); !ids.empty()) return measuring(anchor, ids);
  }
  if (unvisited == 0) return std::nullopt;
  std::size_t farthest = 0;
  double distance = -1;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (contains(visited_, i)) continue;
    double near = HUGE_VAL;
    for (const std::size_t other : visited_) near = std::min(near, apart(i, other));
    if (near > distance) farthest = i, distance = near;
  }
  visited_.push_back(farthest);
  // The choice of the rule so far first, so that in the end it is measured everywhere.
  std::vector<Id> ids;
  if (const auto now = cover(true); now && !was_tried(racers_[now->choice[farthest]], farthest))
    ids.push_back(racers_[now->choice[farthest]]);
  for (const Id id : promising(farthest, kMostInAStep))
    if (ids.size() < 1 + spare / (2 * unvisited) && !contains(ids, id)) ids.push_back(id);
  if (ids.empty()) return visit();
  return measuring(farthest, ids);
}

std::optional<SizeRace::Step> SizeRace::settle() {
  using Pairs = std::map<std::size_t, std::vector<Id>>;  // by size
  const auto need = [&](Pairs& pairs, Id id, std::size_t size) {
    if (!was_tried(id, size)) pairs[size].push_back(id);
  };
  const auto first_of = [&](const Pairs& pairs) -> std::optional<Step> {
    for (auto [size, ids] : pairs) {
      ids.resize(std::min(ids.size(), left()));
      return measuring(size, ids);
    }
    return std::nullopt;
  };

  const auto now = cover(true);
  if (!now) return std::nullopt;
  Pairs choices;
  for (std::size_t size = 0; size < sizes_.size(); ++size) need(choices, racers_[now->choice[size]], size);
  if (auto step = first_of(choices)) return step;

  // The sizes that occur most come first. The last trials are for the sizes between.
  Pairs better;
  double weight = 0;
  for (std::size_t size = 0; size < sizes_.size() && left() > sizes_.size() / 4; ++size) {
    if (sizes_[size].weight <= weight || settled_.contains(size)) continue;
    const auto ids = promising(size, std::min(kMostInAStep, left()));
    if (ids.empty()) continue;
    weight = sizes_[size].weight;
    better = {{size, ids}};
  }
  if (!better.empty()) settled_.insert(better.begin()->first);
  if (auto step = first_of(better)) return step;

  is_settled_ = true;
  for (std::size_t size = 0; size < sizes_.size(); ++size)
    if (const auto id = choice_without(size, true); id && !was_tried(*id, size))
      last_.push_back(measuring(size, {*id}));
  return next();
}

std::optional<SizeRace::Id> SizeRace::choice_without(std::size_t size, bool guesses) const {
  const auto others = cover(guesses, size);
  if (!others) return std::nullopt;
  const SizeRule::Branch* const branch = others->rule.branch(sizes_[size].sizes);
  if (branch == nullptr) return std::nullopt;  // an end of the range
  return ids_.at(branch->configuration);
}

std::optional<double> SizeRace::regret(Id id, std::size_t size) const {
  const auto at = all_[id].times.find(size);
  if (at == all_[id].times.end()) return std::nullopt;
  double best = at->second;
  for (const Racer& one : all_)
    if (const auto other = one.times.find(size); other != one.times.end()) best = std::min(best, other->second);
  return std::exp(at->second - best) - 1;
}

std::vector<double> SizeRace::best_levels() const {
  std::vector<double> best(sizes_.size(), HUGE_VAL);
  for (std::size_t size = 0; size < sizes_.size(); ++size) {
    for (const Id id : racers_)
      if (const auto at = all_[id].times.find(size); at != all_[id].times.end() && levels_[size])
        best[size] = std::min(best[size], at->second - *levels_[size]);
    if (std::isfinite(best[size])) continue;
    for (const Id id : racers_)
      if (const auto& there = expected_.at(id)[size]) best[size] = std::min(best[size], there->mean);
  }
  return best;
}

std::optional<SizeCover> SizeRace::cover(bool guesses, std::optional<std::size_t> without) const {
  std::vector<JointSize> sizes;
  std::vector<std::size_t> places;
  for (std::size_t size = 0; size < sizes_.size(); ++size) {
    if (size == without) continue;
    sizes.push_back(sizes_[size]);
    places.push_back(size);
  }
  if (sizes.empty()) return std::nullopt;
  const std::vector<double> best = best_levels();
  std::vector<Configuration> configurations;
  std::vector<std::vector<double>> regrets;
  for (const Id id : racers_) {
    std::vector<double>& row = regrets.emplace_back();
    configurations.push_back(configurations_[id]);
    for (const std::size_t size : places) {
      double value = HUGE_VAL;
      if (const auto known = regret(id, size)) {
        value = *known;
      } else if (guesses && !was_tried(id, size)) {
        // More than expected: what is known to be good should not be given up for what may be better.
        if (const auto& there = expected_.at(id)[size])
          value = std::exp(std::max(there->mean + kCaution * there->deviation - best[size], 0.0)) - 1;
      }
      row.push_back(value);
    }
  }
  return cover_sizes(sizes, configurations, regrets, options_);
}

std::optional<JointRule> SizeRace::rule() {
  choose_racers();
  fit();
  auto found = cover(false);
  if (!found) found = cover(true);
  if (!found) return std::nullopt;
  JointRule result{std::move(found->rule), {}};
  for (std::size_t size = 0; size < sizes_.size(); ++size)
    result.regrets.push_back(regret(racers_[found->choice[size]], size));
  std::vector<double> between;
  for (std::size_t size = 0; size < sizes_.size(); ++size)
    if (const auto id = choice_without(size, false))
      if (const auto known = regret(*id, size)) between.push_back(*known);
  if (between.empty()) return result;
  const MedianInterval interval = median_interval(between);
  result.rule.between = {median(between), interval.low, interval.high, *std::ranges::max_element(between),
                         between.size()};
  return result;
}

}  // namespace tuner
