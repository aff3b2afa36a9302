#include <tuner/search/rank_model.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tuner::search {
namespace {

constexpr std::size_t kCompilerFeatures = 4;  // registers, spills, static shared memory, occupancy
constexpr std::size_t kMostPrior = 1000;      // a prior takes this many of the best results, and as many others

/// log((rank + 1/2) / count) of each row. Equal objectives share the mean of their ranks; failures are equal.
std::vector<double> log_ranks(const std::vector<Known>& known) {
  std::vector<std::size_t> order(known.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return known[i].objective; });
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

}  // namespace

void RankModel::fit(const std::vector<Known>& known, Random& random) {
  targets_ = log_ranks(known);
  forest_.fit(feature_rows(known), width(), targets_, options_, random);
  best_target_ = *std::min_element(targets_.begin(), targets_.end());
  informed_is_old_ = true;
}

Prediction RankModel::predict(Index index) const {
  std::vector<float> row(width());
  write_features(index, row.data());
  return forest_.predict(row.data());
}

std::vector<Prediction> RankModel::predict_compiled(std::span<const Index> indices, const std::vector<Known>& known,
                                                    Random& random) {
  const std::size_t wide = width() + kCompilerFeatures;
  if (informed_is_old_) {
    informed_is_old_ = false;
    std::vector<float> rows(targets_.size() * wide);
    for (std::size_t i = 0; i < targets_.size(); ++i) write_compiled_features(known[i].index, rows.data() + i * wide);
    informed_.fit(rows, wide, targets_, options_, random);
  }
  std::vector<float> row(wide);
  std::vector<Prediction> predictions;
  for (const Index index : indices) {
    write_compiled_features(index, row.data());
    predictions.push_back(informed_.predict(row.data()));
  }
  return predictions;
}

std::optional<double> RankModel::improvement_chance(const History& history, std::span<const Index> wanted,
                                                    double factor) const {
  const std::vector<Known>& known = history.known();
  Forest forest;
  Random random(known.size());  // a separate generator: asking does not change later proposals
  ForestOptions options = options_;
  // The forest cannot predict below its best row, so each leaf counts as a normal distribution. Leaves with one row
  // would have no deviation.
  options.leaf = std::max<std::size_t>(options.leaf, 3);
  forest.fit(feature_rows(known), width(), capped_levels(known), options, random);
  const double best = history.best()->objective;
  const double threshold = best > 0 ? std::log(best) + std::log1p(-std::min(factor, 0.999)) : best + factor * best;
  std::vector<double> chances;
  std::vector<float> row(width());
  for (const Index index : wanted) {
    if (!history.is_fresh(index)) continue;
    write_features(index, row.data());
    const Prediction prediction = forest.predict(row.data());
    chances.push_back(normal_cdf((threshold - prediction.mean) / std::max(prediction.deviation, 1e-12)));
  }
  if (chances.empty()) return std::nullopt;
  std::sort(chances.rbegin(), chances.rend());
  double none = 1;
  for (std::size_t i = 0; i < std::min<std::size_t>(chances.size(), 32); ++i) none *= 1 - chances[i];
  return 1 - none;
}

void RankModel::learn_prior(const std::vector<Known>& sorted, Random& random) {
  const std::vector<double> levels = log_ranks(sorted);
  std::vector<Known> shown;
  std::vector<double> targets;
  const std::size_t step = 1 + (sorted.size() - 1) / kMostPrior;
  for (std::size_t i = 0; i < sorted.size(); i += i < kMostPrior ? 1 : step) {
    shown.push_back(sorted[i]);
    targets.push_back(levels[i]);
  }
  prior_ = Forest();
  prior_.fit(feature_rows(shown), features_.width(), targets, options_, random);
}

std::vector<float> RankModel::feature_rows(const std::vector<Known>& known) const {
  std::vector<float> rows(known.size() * width());
  for (std::size_t i = 0; i < known.size(); ++i) write_features(known[i].index, rows.data() + i * width());
  return rows;
}

void RankModel::write_features(Index index, float* out) const {
  features_.write(index, out);
  if (!prior_.empty()) out[features_.width()] = static_cast<float>(prior_.predict(out).mean);
}

void RankModel::write_compiled_features(Index index, float* out) const {
  write_features(index, out);
  float* told = out + width();
  const auto at = resources_.find(index);
  const Resources needs = at == resources_.end() ? Resources{} : at->second;
  const double numbers[kCompilerFeatures] = {static_cast<double>(needs.registers),
                                             static_cast<double>(needs.spill_bytes),
                                             static_cast<double>(needs.static_shared_bytes), 64 * needs.occupancy};
  for (std::size_t i = 0; i < kCompilerFeatures; ++i)
    told[i] = listens_ ? static_cast<float>(std::log2(1 + numbers[i])) : 0.0f;
}

}  // namespace tuner::search
