#pragma once
/// A forest of extremely randomised regression trees, whose disagreement is its uncertainty. Splits are on one feature,
/// or on the sum or the difference of two: on logarithms of sizes these are products and ratios (threads of a block,
/// elements a thread), which is what kernels respond to. Internal to the room.
///
/// Source: Geurts, Ernst, Wehenkel, "Extremely randomized trees", Machine Learning 63 (2006); uncertainty as in
/// Hutter, Hoos, Leyton-Brown, "Sequential model-based optimization for general algorithm configuration", LION 2011.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tuner/search/prediction.hpp>
#include <tuner/search/random_numbers.hpp>

namespace tuner::search {

struct ForestOptions {
  std::size_t trees = 32;
  std::size_t tried_splits = 16;  ///< random splits tried at a node
  std::size_t leaf = 2;           ///< a node of fewer rows than twice this is a leaf
};

class Forest {
 public:
  /// \p rows: row-major, \p width features each; \p targets: one a row; at least one row.
  void fit(std::span<const float> rows, std::size_t width, std::span<const double> targets,
           const ForestOptions& options, Random& random);
  bool empty() const { return roots_.empty(); }
  Prediction predict(const float* row) const;

 private:
  struct Node {
    std::int16_t a = -1;  // feature; -1: a leaf
    std::int16_t b = 0;   // second feature
    float sign = 0;       // of the second feature; 0: there is none
    float threshold = 0;
    std::uint32_t left = 0;  // the right child follows it
    float mean = 0;
    float variance = 0;  // of the targets in a leaf
  };
  struct Fit;
  void grow(Fit& fit, std::uint32_t node, std::size_t begin, std::size_t end);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> roots_;
};

}  // namespace tuner::search
