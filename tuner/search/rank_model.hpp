#pragma once
/// The model of `auto`: a forest that learns log(rank) of the results from the parameters. For compiled configurations
/// it also uses what the compiler reports. Internal to the room.
///
/// It uses ranks because objectives of kernels span orders of magnitude, and their tails say nothing about the best:
/// the forest would waste splits on slow configurations. It uses their logarithm because first and second differ as
/// much as hundredth and two hundredth. Failures share the last rank.

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <tuner/core/result/outcome.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/forest.hpp>
#include <tuner/search/history.hpp>

namespace tuner::search {

class RankModel {
 public:
  /// \p listens: whether predict_compiled() uses the compiler's report.
  RankModel(const EnumeratedSpace& space, const ForestOptions& options, bool listens)
      : features_(space), options_(options), listens_(listens) {}

  /// False for a space with one configuration, where there is nothing to learn.
  bool has_choice() const { return features_.width() > 0; }
  bool fitted() const { return !forest_.empty(); }
  /// The number of results in the last fit.
  std::size_t fitted_to() const { return targets_.size(); }
  /// The smallest target of the last fit.
  double best_target() const { return best_target_; }

  /// Records what the compiler reports for \p index.
  void compiled(Index index, const Resources& resources) { resources_[index] = resources; }
  void fit(const std::vector<Known>& known, Random& random);
  Prediction predict(Index index) const;
  /// Predicts from parameters and resources. \p known: the results of the last fit(); later ones may follow them.
  std::vector<Prediction> predict_compiled(std::span<const Index> indices, const std::vector<Known>& known,
                                           Random& random);

  /// Learns from \p sorted, results of another problem or device, best first. Their prediction becomes another feature.
  void learn_prior(const std::vector<Known>& sorted, Random& random);
  void forget_prior() { prior_ = Forest(); }

  /// The probability that one of the 32 most promising fresh configurations of \p wanted beats the best by the share
  /// \p factor, if their predictions were independent. nullopt if all are known. Uses a separate forest for the
  /// objective itself. Precondition: something worked.
  std::optional<double> improvement_chance(const History& history, std::span<const Index> wanted, double factor) const;

 private:
  std::size_t width() const { return features_.width() + (prior_.empty() ? 0 : 1); }
  /// One row of features for each.
  std::vector<float> feature_rows(const std::vector<Known>& known) const;
  void write_features(Index index, float* out) const;
  void write_compiled_features(Index index, float* out) const;

  Features features_;
  ForestOptions options_;
  bool listens_;
  Forest forest_;
  std::vector<double> targets_;  // in the last fit
  double best_target_ = 0;
  Forest prior_;     // predicts log(rank) elsewhere; empty: no prior
  Forest informed_;  // also knows the compiler's reports
  bool informed_is_old_ = true;
  std::unordered_map<Index, Resources> resources_;
};

}  // namespace tuner::search
