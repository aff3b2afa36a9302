#include <tuner/search/improvement.hpp>

#include <algorithm>
#include <cmath>

#include <tuner/search/acquisition.hpp>

namespace tuner::search {

std::optional<double> improvement_chance(const RankModel& model, const History& history, std::span<const Index> wanted,
                                         double factor) {
  const std::vector<Known>& known = history.known();
  const double best = history.best()->objective;
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
  ForestOptions options = model.options();
  // The forest cannot see below the best it was shown, so that each leaf counts as a normal distribution; leaves of one
  // row would know no doubt of their own.
  options.leaf = std::max<std::size_t>(options.leaf, 3);
  forest.fit(model.feature_rows(known), model.width(), targets, options, random);
  const double threshold = level(best) + (positive ? std::log1p(-std::min(factor, 0.999)) : factor * best);
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
