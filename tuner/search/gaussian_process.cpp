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
  const auto n = static_cast<Eigen::Index>(count_);
  Eigen::MatrixXd covariance(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) covariance(i, j) = kernel(row(i), row(j), hyper) + (i == j ? hyper.noise : 0);
  factor_.compute(covariance);
  const auto diagonal = factor_.matrixLLT().diagonal();
  if (factor_.info() != Eigen::Success || !(diagonal.minCoeff() > 1e-6))
    return -std::numeric_limits<double>::infinity();
  weights_ = factor_.solve(targets_);
  const auto count = static_cast<double>(count_);
  signal_ = std::max(targets_.dot(weights_) / count, 1e-18);
  return -0.5 * count * std::log(signal_) - diagonal.array().log().sum();
}

void GaussianProcess::fit(std::span<const float> rows, std::size_t width, std::span<const double> targets,
                          std::size_t attempts, Random& random) {
  width_ = width;
  count_ = targets.size();
  rows_.assign(rows.begin(), rows.end());
  centre_ = std::accumulate(targets.begin(), targets.end(), 0.0) / static_cast<double>(count_);
  targets_ = Eigen::Map<const Eigen::VectorXd>(targets.data(), static_cast<Eigen::Index>(count_)).array() - centre_;
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

Eigen::VectorXd GaussianProcess::covariances(const float* at) const {
  Eigen::VectorXd out(static_cast<Eigen::Index>(count_));
  for (Eigen::Index i = 0; i < out.size(); ++i) out[i] = kernel(at, row(i), hyper_);
  return out;
}

double GaussianProcess::mean(const float* at) const { return centre_ + weights_.dot(covariances(at)); }

Prediction GaussianProcess::predict(const float* at) const {
  const Eigen::VectorXd covariance = covariances(at);
  const double explained = factor_.matrixL().solve(covariance).squaredNorm();
  return {centre_ + weights_.dot(covariance), std::sqrt(signal_ * std::max(0.0, 1 - explained))};
}

}  // namespace tuner::search
