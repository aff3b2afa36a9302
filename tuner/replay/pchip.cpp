#include <tuner/replay/pchip.hpp>

#include <algorithm>
#include <cmath>

namespace tuner::replay {

namespace {

int sign(double v) { return (v > 0) - (v < 0); }

/// Slope at an end, from the first two intervals counted from it.
double end_slope(double h0, double h1, double secant0, double secant1) {
  const double slope = ((2 * h0 + h1) * secant0 - h0 * secant1) / (h0 + h1);
  if (sign(slope) != sign(secant0)) return 0;
  if (sign(secant0) != sign(secant1) && std::abs(slope) > 3 * std::abs(secant0)) return 3 * secant0;
  return slope;
}

}  // namespace

Pchip::Pchip(std::span<const double> x, std::span<const double> y)
    : x_(x.begin(), x.end()), y_(y.begin(), y.end()), slope_(x.size()) {
  const std::size_t last = x_.size() - 1;
  std::vector<double> width(last);
  std::vector<double> secant(last);
  for (std::size_t i = 0; i < last; ++i) {
    width[i] = x_[i + 1] - x_[i];
    secant[i] = (y_[i + 1] - y_[i]) / width[i];
  }
  if (last == 1) {
    slope_[0] = slope_[1] = secant[0];
    return;
  }
  for (std::size_t i = 1; i < last; ++i) {
    if (sign(secant[i - 1]) * sign(secant[i]) <= 0) continue;  // a local extreme: slope 0
    const double w1 = 2 * width[i] + width[i - 1];
    const double w2 = width[i] + 2 * width[i - 1];
    slope_[i] = (w1 + w2) / (w1 / secant[i - 1] + w2 / secant[i]);
  }
  slope_[0] = end_slope(width[0], width[1], secant[0], secant[1]);
  slope_[last] = end_slope(width[last - 1], width[last - 2], secant[last - 1], secant[last - 2]);
}

double Pchip::operator()(double at) const {
  auto i = static_cast<std::size_t>(std::upper_bound(x_.begin(), x_.end(), at) - x_.begin());
  i = std::clamp<std::size_t>(i, 1, x_.size() - 1) - 1;
  const double h = x_[i + 1] - x_[i];
  const double t = (at - x_[i]) / h;
  const double t2 = t * t;
  const double t3 = t2 * t;
  return (2 * t3 - 3 * t2 + 1) * y_[i] + (t3 - 2 * t2 + t) * h * slope_[i] + (3 * t2 - 2 * t3) * y_[i + 1] +
         (t3 - t2) * h * slope_[i + 1];
}

}  // namespace tuner::replay
