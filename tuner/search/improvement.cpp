#include <tuner/search/improvement.hpp>

#include <algorithm>
#include <cmath>

namespace tuner::search {

std::optional<double> improvement_chance(const RankModel& model, const History& history, std::span<const Index> wanted,
                                         double factor) {
  const std::vector<Known>& known = history.known();
  Forest forest;
  Random random(known.size());  // asking changes nothing of what is proposed
  ForestOptions options = model.options();
  // The forest cannot see below the best it was shown, so that each leaf counts as a normal distribution; leaves of one
  // row would know no doubt of their own.
  options.leaf = std::max<std::size_t>(options.leaf, 3);
  forest.fit(model.feature_rows(known), model.width(), capped_levels(known), options, random);
  const double best = history.best()->objective;
  const double threshold = best > 0 ? std::log(best) + std::log1p(-std::min(factor, 0.999)) : best + factor * best;
  std::vector<double> chances;
  std::vector<float> row(model.width());
  for (const Index index : wanted) {
    if (!history.is_fresh(index)) continue;
    model.write_features(index, row.data());
    const Prediction prediction = forest.predict(row.data());
    chances.push_back(normal_cdf((threshold - prediction.mean) / std::max(prediction.deviation, 1e-12)));
  }
  if (chances.empty()) return std::nullopt;
  std::sort(chances.rbegin(), chances.rend());
  double none = 1;
  for (std::size_t i = 0; i < std::min<std::size_t>(chances.size(), 32); ++i) none *= 1 - chances[i];
  return 1 - none;
}

}  // namespace tuner::search
