#pragma once
/// The prediction of a model and its value. Shared by the model-based strategies and the race of sizes.

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tuner::search {

struct Prediction {
  double mean = 0;
  double deviation = 0;
};

inline double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// E[max(0, best - y)] for a normally distributed y.
///
/// Source: Jones, Schonlau, Welch, "Efficient global optimization of expensive black-box functions", J. Global
/// Optimization 13 (1998).
inline double expected_improvement(const Prediction& y, double best) {
  const double deviation = std::max(y.deviation, 1e-12);
  const double z = (best - y.mean) / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return deviation * (z * normal_cdf(z) + density);
}

}  // namespace tuner::search
