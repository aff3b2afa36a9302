#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <tuner/search/acquisition.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/forest.hpp>
#include <tuner/search/nearest_valid.hpp>
#include <tuner/search/registry.hpp>
#include <tuner/search/spread.hpp>

namespace tuner::search {

namespace {

constexpr std::size_t kCompilerFeatures = 4;  // registers, spills, static shared memory, occupancy
constexpr std::size_t kAlwaysRun = 2;         // of what waits, so that the device does not
constexpr std::size_t kLeastPrior = 8;        // results that a model of elsewhere is worth
constexpr std::size_t kMostPrior = 1000;      // results of the best, and as many others, that it needs
constexpr double kFinishing = 0.5;            // of the model's doubt, when the budget ends

/// A forest learns log(rank) of what was tried; the next configuration is the one with the highest expected
/// improvement among the neighbourhoods of the best, crossings of them, and random ones.
///
/// Ranks, because objectives of kernels span orders of magnitude and have tails that say nothing about the best: the
/// forest would spend its splits on telling slow from very slow. Their logarithm, because the difference between the
/// first and the second matters as much as that between the hundredth and the two hundredth. Failures share the last
/// rank.
///
/// Proposals that are compiled and wait for the device are judged once more, by a forest that also knows what the
/// compiler told of each: the more promising ones run first, and those that fell far behind what could be proposed now
/// are given up.
class Auto final : public BasicStrategy {
 public:
  Auto(const EnumeratedSpace& space, const StrategyOptions& options)
      : BasicStrategy(space, options), spread_(space), features_(space) {
    const double most = std::max(4.0, option("start_share") * static_cast<double>(planned_trials()));
    start_ = static_cast<std::size_t>(std::min(option("start"), most));
    forest_options_.trees = std::max<std::size_t>(1, static_cast<std::size_t>(option("trees")));
    forest_options_.tried_splits = std::max<std::size_t>(1, static_cast<std::size_t>(option("splits")));
    forest_options_.leaf = std::max<std::size_t>(1, static_cast<std::size_t>(option("leaf")));
  }

  void compiled(Index index, const Resources& resources) override { resources_[index] = resources; }
  std::optional<std::vector<Index>> reconsider(std::span<const Index> waiting) override;
  void seed_prior(std::span<const Observation> observations, double weight) override;
  std::optional<double> improvement_probability(double factor) override;

 private:
  std::optional<Index> next() override;
  void proposed(Index index) override {
    ++made_;
    spread_.seen(index);
  }
  void told(const Observation& observation) override {
    if (observation.resources) resources_[observation.index] = *observation.resources;
    may_give_up_ = static_cast<std::size_t>(option("exchange"));
    if (!history_.best() || history_.best()->index != observation.index) return;
    improved_ = true;
    improved_at_ = history_.known().size();
  }

  bool has_choice() const { return features_.width() > 0; }
  std::size_t width() const { return features_.width() + (prior_.empty() ? 0 : 1); }
  void write_features(Index index, float* out) const;
  std::vector<float> feature_rows(const std::vector<Known>& known) const;
  std::size_t informed_width() const { return width() + kCompilerFeatures; }
  void write_informed_features(Index index, float* out) const;
  void fit_informed();
  double merit(Prediction prediction) const;
  std::vector<Index> candidates();
  Index crossing(const std::vector<Known>& parents);
  bool fit_is_due() const;
  bool finishing() const {
    return static_cast<double>(history_.known().size()) >
           (1 - option("finish")) * static_cast<double>(planned_trials());
  }
  void refit();

  Spread spread_;
  Features features_;
  ForestOptions forest_options_;
  Forest forest_;
  struct Wanted {
    double merit = 0;
    Index index = 0;
    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };
  std::vector<Wanted> queue_;    // what the model wants next, best last
  std::vector<double> targets_;  // of the last fit: of history_.known() as it was then
  double best_target_ = 0;
  double boldness_ = 1;
  // What the compiler told, of what was tried and of what waits; and a forest that knows it besides the parameters.
  std::unordered_map<Index, Resources> resources_;
  Forest informed_;
  std::size_t may_give_up_ = 0;     // proposals, until the next result
  std::size_t informed_refit_ = 0;  // when it was fitted
  std::size_t fitted_to_ = 0;       // results known at the last fit
  bool improved_ = false;
  std::size_t improved_at_ = 0;  // results known when the best was found
  std::size_t start_ = 0;
  std::size_t made_ = 0;
  std::size_t refits_ = 0;
  std::size_t judged_refit_ = 0;  // when judged_ was computed
  double judged_factor_ = 0;
  std::optional<double> judged_;
  Forest prior_;                    // log(rank) elsewhere; empty: there is no prior
  std::vector<Index> prior_start_;  // what was best elsewhere, best last
};

/// log((rank + 1/2) / count) of each row; equal objectives share the mean of their ranks, failures are equal.
std::vector<double> log_ranks(const std::vector<Known>& known) {
  std::vector<std::size_t> order(known.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return known[a].objective < known[b].objective; });
  std::vector<double> out(known.size());
  const auto count = static_cast<double>(known.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && known[order[end]].objective == known[order[first]].objective) ++end;
    const double rank = 0.5 * static_cast<double>(first + end - 1);
    for (std::size_t i = first; i < end; ++i) out[order[i]] = std::log((rank + 0.5) / count);
    first = end;
  }
  return out;
}

std::optional<Index> Auto::next() {
  while (!prior_start_.empty()) {
    const Index index = prior_start_.back();
    prior_start_.pop_back();
    if (history_.is_fresh(index)) return index;
  }
  if (made_ < start_ || history_.valid_count() < 2) return spread_.next(history_, random_);
  if (!has_choice()) return std::nullopt;
  if (fit_is_due()) refit();
  while (!queue_.empty()) {
    const Index index = queue_.back().index;
    queue_.pop_back();
    if (history_.is_fresh(index)) return index;
  }
  return std::nullopt;
}

/// After an improvement, and less often as one more result changes less: the cost of a proposal stays bounded.
bool Auto::fit_is_due() const {
  return improved_ || forest_.empty() || queue_.empty() || history_.known().size() - fitted_to_ >= 1 + fitted_to_ / 16;
}

void Auto::write_features(Index index, float* out) const {
  features_.write(index, out);
  if (!prior_.empty()) out[features_.width()] = static_cast<float>(prior_.predict(out).mean);
}

std::vector<float> Auto::feature_rows(const std::vector<Known>& known) const {
  std::vector<float> rows(known.size() * width());
  for (std::size_t i = 0; i < known.size(); ++i) write_features(known[i].index, rows.data() + i * width());
  return rows;
}

std::vector<Index> Auto::candidates() {
  std::vector<Index> out;
  const auto add = [&](Index index) {
    if (history_.is_fresh(index)) out.push_back(index);
  };
  const auto parents = history_.elites(static_cast<std::size_t>(option("parents")));
  const std::size_t elites = std::min(parents.size(), static_cast<std::size_t>(option("elites")));
  for (std::size_t i = 0; i < elites; ++i)
    for (const Index index : space().neighbours(parents[i].index, Neighbourhood::hamming)) add(index);
  if (finishing() && !out.empty()) {
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
  if (parents.size() > 1)
    for (double i = 0; i < option("crossings"); ++i) add(crossing(parents));
  for (double i = 0; i < option("pool"); ++i)
    if (const auto index = history_.random_fresh(random_)) add(*index);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Each value from one of two parents, about one of them changed to anything.
Index Auto::crossing(const std::vector<Known>& parents) {
  const auto parent = [&] {  // the better ones twice as often
    return parents[std::min(random_.below(parents.size()), random_.below(parents.size()))].index;
  };
  const std::size_t count = space().parameters().size();
  EnumeratedSpace::Digits child(count);
  EnumeratedSpace::Digits other(count);
  const Index first = parent();
  space().digits(first, child);
  space().digits(parent(), other);
  const double mutation = 1 / static_cast<double>(features_.width());
  for (std::size_t p = 0; p < count; ++p) {
    if (random_.chance(0.5)) child[p] = other[p];
    if (random_.chance(mutation))
      child[p] = static_cast<std::uint16_t>(random_.below(space().parameters()[p].values.size()));
  }
  return nearest_valid(space(), random_, child).value_or(first);
}

void Auto::refit() {
  improved_ = false;
  ++refits_;
  const std::vector<Known>& known = history_.known();
  fitted_to_ = known.size();
  targets_ = log_ranks(known);
  forest_.fit(feature_rows(known), width(), targets_, forest_options_, random_);
  best_target_ = *std::min_element(targets_.begin(), targets_.end());
  // Stagnating: every second fit looks where the model knows least, or a run may stay in the first valley it found.
  const bool stagnates =
      static_cast<double>(known.size() - improved_at_) > option("patience") + static_cast<double>(known.size()) / 8;
  boldness_ = option("boldness") * (finishing() ? kFinishing : stagnates && refits_ % 2 == 0 ? option("restless") : 1);
  queue_.clear();
  std::vector<float> row(width());
  for (const Index index : candidates()) {
    write_features(index, row.data());
    queue_.push_back({merit(forest_.predict(row.data())), index});
  }
  std::sort(queue_.begin(), queue_.end());
}

double Auto::merit(Prediction prediction) const {
  prediction.deviation *= boldness_;
  return expected_improvement(prediction, best_target_);
}

void Auto::write_informed_features(Index index, float* out) const {
  write_features(index, out);
  float* told = out + width();
  const auto at = resources_.find(index);
  const Resources needs = at == resources_.end() ? Resources{} : at->second;
  const double numbers[kCompilerFeatures] = {static_cast<double>(needs.registers),
                                             static_cast<double>(needs.spill_bytes),
                                             static_cast<double>(needs.static_shared_bytes), 64 * needs.occupancy};
  const bool listens = option("compiler") > 0;
  for (std::size_t i = 0; i < kCompilerFeatures; ++i)
    told[i] = listens ? static_cast<float>(std::log2(1 + numbers[i])) : 0.0f;
}

void Auto::fit_informed() {
  if (informed_refit_ == refits_) return;
  informed_refit_ = refits_;
  const std::vector<Known>& known = history_.known();
  std::vector<float> rows(targets_.size() * informed_width());
  for (std::size_t i = 0; i < targets_.size(); ++i)
    write_informed_features(known[i].index, rows.data() + i * informed_width());
  informed_.fit(rows, informed_width(), targets_, forest_options_, random_);
}

std::optional<std::vector<Index>> Auto::reconsider(std::span<const Index> waiting) {
  if (made_ < start_ || history_.valid_count() < 2 || !has_choice() || forest_.empty()) return std::nullopt;
  if (fit_is_due()) refit();
  fit_informed();
  std::vector<Wanted> ranked;
  std::vector<float> row(informed_width());
  for (const Index index : waiting) {
    write_informed_features(index, row.data());
    ranked.push_back({merit(informed_.predict(row.data())), index});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Wanted& a, const Wanted& b) { return a.merit > b.merit; });
  const double least = queue_.empty() ? 0 : option("give_up") * queue_.back().merit;
  std::vector<Index> out;
  for (const Wanted& wanted : ranked) out.push_back(wanted.index);
  for (; may_give_up_ > 0 && out.size() > kAlwaysRun && ranked[out.size() - 1].merit < least; --may_give_up_)
    out.pop_back();
  return out;
}

void Auto::seed_prior(std::span<const Observation> observations, double weight) {
  if (!has_choice() || !(weight > 0)) return;
  std::vector<Known> known;
  for (const Observation& observation : observations)
    if (observation.index < space().size())
      known.push_back({observation.index, observation.objective.value_or(HUGE_VAL)});
  if (known.empty()) return;
  std::sort(known.begin(), known.end(), [](const Known& a, const Known& b) { return a.objective < b.objective; });
  // The better half of the start comes from there, the more the more it is trusted.
  auto count = static_cast<std::size_t>(std::ceil(0.5 * std::min(weight, 1.0) * static_cast<double>(start_)));
  prior_start_.clear();
  for (count = std::min(count, known.size()); count > 0; --count)
    if (std::isfinite(known[count - 1].objective)) prior_start_.push_back(known[count - 1].index);
  if (known.size() < kLeastPrior) return;
  // All of the best, and of the others as many evenly.
  const std::vector<double> levels = log_ranks(known);
  std::vector<Known> shown;
  std::vector<double> targets;
  const std::size_t step = 1 + (known.size() - 1) / kMostPrior;
  for (std::size_t i = 0; i < known.size(); i += i < kMostPrior ? 1 : step) {
    shown.push_back(known[i]);
    targets.push_back(levels[i]);
  }
  prior_ = Forest();
  const std::vector<float> rows = feature_rows(shown);
  prior_.fit(rows, features_.width(), targets, forest_options_, random_);
  improved_ = true;  // what was known is seen in another light
}

/// That one of the 32 most promising configurations is better by the factor, by a forest on the objective itself. The
/// forest cannot see below the best it was shown, so that each leaf counts as a normal distribution.
std::optional<double> Auto::improvement_probability(double factor) {
  if (history_.fresh_count() == 0) return 0;
  // However sure the model is: after m results without an improvement the next one improves with about 1 / (m + 2)
  // (Laplace's rule of succession).
  const double record = 1 / (static_cast<double>(history_.known().size() - improved_at_) + 2);
  if (judged_ && judged_refit_ == refits_ && judged_factor_ == factor && !improved_) return std::max(*judged_, record);
  if (history_.valid_count() < 8 || made_ < start_ || !has_choice()) return std::nullopt;
  const std::vector<Known>& known = history_.known();
  const double best = history_.best()->objective;
  const bool positive = best > 0;
  const auto level = [&](double objective) { return positive ? std::log(objective) : objective; };
  std::vector<double> targets;
  for (const Known& entry : known)
    if (std::isfinite(entry.objective)) targets.push_back(level(entry.objective));
  std::nth_element(targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(targets.size() / 2), targets.end());
  const double median = targets[targets.size() / 2];
  targets.clear();
  for (const Known& entry : known)
    targets.push_back(std::isfinite(entry.objective) ? std::min(level(entry.objective), median) : median);
  Forest forest;
  Random random(known.size());  // asking changes nothing of what is proposed
  ForestOptions options = forest_options_;
  options.leaf = std::max<std::size_t>(options.leaf, 3);  // leaves of one row would know no doubt of their own
  forest.fit(feature_rows(known), width(), targets, options, random);
  const double threshold = level(best) + (positive ? std::log1p(-std::min(factor, 0.999)) : factor * best);
  std::vector<double> chances;
  std::vector<float> row(width());
  const std::size_t looked_at = std::min<std::size_t>(queue_.size(), 256);
  for (std::size_t i = queue_.size() - looked_at; i < queue_.size(); ++i) {
    if (!history_.is_fresh(queue_[i].index)) continue;
    write_features(queue_[i].index, row.data());
    const Prediction prediction = forest.predict(row.data());
    chances.push_back(normal_cdf((threshold - prediction.mean) / std::max(prediction.deviation, 1e-12)));
  }
  if (chances.empty()) return std::nullopt;
  std::sort(chances.rbegin(), chances.rend());
  double none = 1;
  for (std::size_t i = 0; i < std::min<std::size_t>(chances.size(), 32); ++i) none *= 1 - chances[i];
  judged_ = 1 - none;
  judged_refit_ = refits_;
  judged_factor_ = factor;
  return std::max(*judged_, record);
}

}  // namespace

StrategyEntry auto_entry() {
  return {
      {"auto",
       "a forest of random trees learns the ranks; neighbourhoods and crossings of the best, by expected improvement",
       "Hutter, Hoos, Leyton-Brown, \"Sequential model-based optimization for general algorithm configuration\", LION "
       "2011; on log ranks, with the neighbourhoods and crossings of local and genetic search as candidates",
       {{"start", 6},
        {"start_share", 0.6},
        {"elites", 5},
        {"parents", 20},
        {"crossings", 100},
        {"pool", 400},
        {"boldness", 1},
        {"patience", 10},
        {"restless", 4},
        {"finish", 0.2},
        {"compiler", 1},
        {"give_up", 0.5},
        {"exchange", 2},
        {"trees", 32},
        {"splits", 12},
        {"leaf", 1}}},
      &make<Auto>};
}

}  // namespace tuner::search
