#pragma once
/// What `auto` believes: a forest that learns log(rank) of what was tried, from the parameters and, for what is
/// compiled already, from what the compiler told. Internal to the room.
///
/// Ranks, because objectives of kernels span orders of magnitude and have tails that say nothing about the best: the
/// forest would spend its splits on telling slow from very slow. Their logarithm, because the difference between the
/// first and the second matters as much as that between the hundredth and the two hundredth. Failures share the last
/// rank.

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <tuner/core/outcome.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/forest.hpp>
#include <tuner/search/history.hpp>

namespace tuner::search {

class RankModel {
 public:
  /// \p listens: whether predict_compiled() heeds the compiler.
  RankModel(const EnumeratedSpace& space, const ForestOptions& options, bool listens)
      : features_(space), options_(options), listens_(listens) {}

  /// False for a space of one configuration: there is nothing to learn.
  bool has_choice() const { return features_.width() > 0; }
  bool fitted() const { return !forest_.empty(); }
  /// Results known at the last fit.
  std::size_t fitted_to() const { return targets_.size(); }
  /// The smallest target of the last fit.
  double best_target() const { return best_target_; }

  /// Remembers what the compiler told of \p index.
  void compiled(Index index, const Resources& resources) { resources_[index] = resources; }
  void fit(const std::vector<Known>& known, Random& random);
  Prediction predict(Index index) const;
  /// By parameters and resources. \p known: what the last fit() was given, perhaps with later results behind it.
  std::vector<Prediction> predict_compiled(std::span<const Index> indices, const std::vector<Known>& known,
                                           Random& random);

  /// Learns from \p sorted, results of elsewhere with the best first: its prediction becomes one more feature.
  void learn_prior(const std::vector<Known>& sorted, Random& random);

  /// The probability that one of the 32 most promising of \p wanted (the fresh ones of them) is better than the best by
  /// the share \p factor, were their predictions independent; nothing when none of them is fresh. By a forest of its
  /// own on the objective itself. Precondition: something worked.
  std::optional<double> improvement_chance(const History& history, std::span<const Index> wanted, double factor) const;

 private:
  std::size_t width() const { return features_.width() + (prior_.empty() ? 0 : 1); }
  /// One row of features each.
  std::vector<float> feature_rows(const std::vector<Known>& known) const;
  void write_features(Index index, float* out) const;
  void write_compiled_features(Index index, float* out) const;

  Features features_;
  ForestOptions options_;
  bool listens_;
  Forest forest_;
  std::vector<double> targets_;  // of the last fit
  double best_target_ = 0;
  Forest prior_;     // log(rank) elsewhere; empty: there is no prior
  Forest informed_;  // knows what the compiler told besides
  bool informed_is_old_ = true;
  std::unordered_map<Index, Resources> resources_;
};

}  // namespace tuner::search
