#pragma once
/// Gaussian-process regression on a few hundred rows: Matern-5/2 kernel with one length for each feature. Lengths and
/// noise are fitted by marginal likelihood. Internal to the room.
///
/// Source: Rasmussen, Williams, "Gaussian processes for machine learning", MIT Press 2006, algorithm 2.1 and 5.4.

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Cholesky>

#include <tuner/search/prediction.hpp>
#include <tuner/search/random_numbers.hpp>

namespace tuner::search {

class GaussianProcess {
 public:
  /// \p rows: row-major, with \p width features each. Starts from the previous lengths and tries \p attempts changes.
  void fit(std::span<const float> rows, std::size_t width, std::span<const double> targets, std::size_t attempts,
           Random& random);
  /// The mean alone: O(rows) instead of O(rows^2).
  double mean(const float* at) const;
  Prediction predict(const float* at) const;

 private:
  struct Hyper {
    std::vector<double> inverse_length;
    double noise = 0.05;  // variance, relative to that of the signal
  };
  const float* row(Eigen::Index i) const { return rows_.data() + static_cast<std::size_t>(i) * width_; }
  double kernel(const float* a, const float* b, const Hyper& hyper) const;
  /// Factorises; returns the log marginal likelihood with the signal variance profiled out; on failure, minus infinity.
  double factorise(const Hyper& hyper);
  /// The covariances of \p at with all rows.
  Eigen::VectorXd covariances(const float* at) const;

  std::size_t width_ = 0;
  std::size_t count_ = 0;
  std::vector<float> rows_;
  Eigen::VectorXd targets_;  // centred
  double centre_ = 0;
  double signal_ = 1;  // variance
  Hyper hyper_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd weights_;  // K^-1 y
};

}  // namespace tuner::search
