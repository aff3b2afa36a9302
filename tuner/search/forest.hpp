#pragma once
/// A forest of extremely randomised regression trees; the disagreement of the trees is the uncertainty. A split uses
/// one feature, or the sum or difference of two. For logarithms of sizes these are products and ratios (threads of a
/// block, elements of a thread), to which kernels respond. Internal to the room.
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
  std::size_t tried_splits = 16;  ///< random splits that are tried at a node
  std::size_t leaf = 2;           ///< a node with fewer than twice this many rows is a leaf
};

class Forest {
 public:
  /// \p rows: row-major, with \p width features each. \p targets: one for each row. Needs at least one row.
  void fit(std::span<const float> rows, std::size_t width, std::span<const double> targets,
           const ForestOptions& options, Random& random);
  bool empty() const { return roots_.empty(); }
  Prediction predict(const float* row) const;

 private:
  struct Node {
    std::int16_t a = -1;  // feature; -1: a leaf
    std::int16_t b = 0;   // second feature
    float sign = 0;       // of the second feature; 0: not used
    float threshold = 0;
    std::uint32_t left = 0;  // the right child is the next node
    float mean = 0;
    float variance = 0;  // of the targets in a leaf
  };
  struct Fit;
  void grow(Fit& fit, std::uint32_t node, std::size_t begin, std::size_t end);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> roots_;
};

}  // namespace tuner::search
