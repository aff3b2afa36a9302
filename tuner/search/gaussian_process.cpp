#include <tuner/search/gaussian_process.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tuner::search {

double GaussianProcess::kernel(const float* a, const float* b, const Hyper& hyper) const {
  double square = 0;
  for (std::size_t f = 0; f < width_; ++f) {
    const double step = (static_cast<double>(a[f]) - static_cast<double>(b[f])) * hyper.inverse_length[f];
    square += step * step;
  }
  const double r = std::sqrt(5 * square);
  return (1 + r + r * r / 3) * std::exp(-r);
}

double GaussianProcess::factorise(const Hyper& hyper) {
  lower_.assign(count_ * count_, 0.0);
  double log_determinant = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    double* row = &lower_[i * count_];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = &lower_[j * count_];
      double sum = kernel(&rows_[i * width_], &rows_[j * width_], hyper) + (i == j ? hyper.noise : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (i == j) {
        if (!(sum > 1e-12)) return -std::numeric_limits<double>::infinity();
        row[i] = std::sqrt(sum);
        log_determinant += std::log(row[i]);
      } else {
        row[j] = sum / other[j];
      }
    }
  }
  weights_ = targets_;
  double fit = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t k = 0; k < i; ++k) weights_[i] -= lower_[i * count_ + k] * weights_[k];
    weights_[i] /= lower_[i * count_ + i];
    fit += weights_[i] * weights_[i];
  }
  for (std::size_t i = count_; i-- > 0;) {
    weights_[i] /= lower_[i * count_ + i];
    for (std::size_t k = 0; k < i; ++k) weights_[k] -= lower_[i * count_ + k] * weights_[i];
  }
  const auto n = static_cast<double>(count_);
  signal_ = std::max(fit / n, 1e-18);
  return -0.5 * n * std::log(signal_) - log_determinant;
}

void GaussianProcess::fit(std::span<const float> rows, std::size_t width, std::span<const double> targets,
                          std::size_t attempts, Random& random) {
  width_ = width;
  count_ = targets.size();
  rows_.assign(rows.begin(), rows.end());
  centre_ = std::accumulate(targets.begin(), targets.end(), 0.0) / static_cast<double>(count_);
  targets_.assign(targets.begin(), targets.end());
  for (double& target : targets_) target -= centre_;
  if (hyper_.inverse_length.size() != width) {
    hyper_.inverse_length.clear();
    for (std::size_t f = 0; f < width; ++f) {
      float low = rows_[f];
      float high = rows_[f];
      for (std::size_t i = 0; i < count_; ++i) {
        low = std::min(low, rows_[i * width + f]);
        high = std::max(high, rows_[i * width + f]);
      }
      hyper_.inverse_length.push_back(1 / std::max(1.0, 0.7 * static_cast<double>(high - low)));
    }
  }
  double best = factorise(hyper_);
  for (std::size_t attempt = 0; attempt < attempts; ++attempt) {
    Hyper tried = hyper_;
    const std::size_t which = random.below(width + 1);
    const double change = std::exp(random.normal());
    if (which == width) {
      tried.noise = std::clamp(tried.noise * change, 1e-4, 1.0);
    } else {
      tried.inverse_length[which] = std::clamp(tried.inverse_length[which] * change, 1e-2, 1e1);
    }
    const double likelihood = factorise(tried);
    if (likelihood > best) {
      best = likelihood;
      hyper_ = tried;
    }
  }
  while (!std::isfinite(factorise(hyper_)) && hyper_.noise < 10) hyper_.noise = std::max(1e-3, hyper_.noise * 10);
}

double GaussianProcess::mean(const float* row) const {
  double sum = centre_;
  for (std::size_t i = 0; i < count_; ++i) sum += weights_[i] * kernel(row, &rows_[i * width_], hyper_);
  return sum;
}

Prediction GaussianProcess::predict(const float* row) const {
  std::vector<double> v(count_);
  double mean = centre_;
  double explained = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    v[i] = kernel(row, &rows_[i * width_], hyper_);
    mean += weights_[i] * v[i];
    for (std::size_t k = 0; k < i; ++k) v[i] -= lower_[i * count_ + k] * v[k];
    v[i] /= lower_[i * count_ + i];
    explained += v[i] * v[i];
  }
  return {mean, std::sqrt(signal_ * std::max(0.0, 1 - explained))};
}

}  // namespace tuner::search
