#include <tuner/search/forest.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tuner::search {

/// The state while one tree grows.
struct Forest::Fit {
  std::span<const float> rows;
  std::size_t width;
  std::span<const double> targets;
  const ForestOptions& options;
  Random& random;
  std::vector<std::uint32_t> order;  // row numbers, permuted so that the rows of each node stand together

  float feature(std::uint32_t row, const Node& node) const {
    const float* x = rows.data() + row * width;
    return x[node.a] + node.sign * x[node.b];
  }
};

void Forest::fit(std::span<const float> rows, std::size_t width, std::span<const double> targets,
                 const ForestOptions& options, Random& random) {
  nodes_.clear();
  roots_.clear();
  Fit fit{rows, width, targets, options, random, std::vector<std::uint32_t>(targets.size())};
  for (std::size_t tree = 0; tree < options.trees; ++tree) {
    std::iota(fit.order.begin(), fit.order.end(), 0u);
    roots_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.emplace_back();
    grow(fit, roots_.back(), 0, targets.size());
  }
}

void Forest::grow(Fit& fit, std::uint32_t at, std::size_t begin, std::size_t end) {
  const auto count = static_cast<double>(end - begin);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double y = fit.targets[fit.order[i]];
    sum += y;
    squares += y * y;
  }
  const double mean = sum / count;
  const double variance = std::max(0.0, squares / count - mean * mean);
  nodes_[at].mean = static_cast<float>(mean);
  nodes_[at].variance = static_cast<float>(variance);
  if (end - begin < 2 * fit.options.leaf || variance < 1e-14 || fit.width == 0) return;

  Node best;
  double best_gain = 0;
  for (std::size_t attempt = 0; attempt < fit.options.tried_splits; ++attempt) {
    Node split;
    split.a = static_cast<std::int16_t>(fit.random.below(fit.width));
    split.b = static_cast<std::int16_t>(fit.random.below(fit.width));
    const std::size_t form = fit.random.below(4);  // half of the splits use one feature
    split.sign = form == 0 ? 1.0f : form == 1 ? -1.0f : 0.0f;
    float low = fit.feature(fit.order[begin], split);
    float high = low;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const float value = fit.feature(fit.order[i], split);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (!(low < high)) continue;
    split.threshold = low + static_cast<float>(fit.random.uniform()) * (high - low);
    double left_sum = 0;
    double left_count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t row = fit.order[i];
      if (fit.feature(row, split) <= split.threshold) {
        left_sum += fit.targets[row];
        ++left_count;
      }
    }
    const double right_count = count - left_count;
    if (left_count < 1 || right_count < 1) continue;
    const double right_sum = sum - left_sum;
    const double gain = left_sum * left_sum / left_count + right_sum * right_sum / right_count - sum * mean;
    if (gain > best_gain) {
      best_gain = gain;
      best = split;
    }
  }
  if (best.a < 0) return;
  const auto middle = std::partition(fit.order.begin() + static_cast<std::ptrdiff_t>(begin),
                                     fit.order.begin() + static_cast<std::ptrdiff_t>(end),
                                     [&](std::uint32_t row) { return fit.feature(row, best) <= best.threshold; });
  const auto cut = static_cast<std::size_t>(middle - fit.order.begin());
  if (cut == begin || cut == end) return;
  const auto left = static_cast<std::uint32_t>(nodes_.size());
  best.left = left;
  best.mean = nodes_[at].mean;
  best.variance = nodes_[at].variance;
  nodes_[at] = best;
  nodes_.resize(nodes_.size() + 2);
  grow(fit, left, begin, cut);
  grow(fit, left + 1, cut, end);
}

Prediction Forest::predict(const float* row) const {
  double sum = 0;
  double squares = 0;
  for (std::uint32_t at : roots_) {
    const Node* node = &nodes_[at];
    while (node->a >= 0) {
      const float value = row[node->a] + node->sign * row[node->b];
      node = &nodes_[node->left + (value <= node->threshold ? 0u : 1u)];
    }
    sum += node->mean;
    squares += static_cast<double>(node->mean) * node->mean + node->variance;
  }
  const auto trees = static_cast<double>(roots_.size());
  const double mean = sum / trees;
  return {mean, std::sqrt(std::max(0.0, squares / trees - mean * mean))};
}

}  // namespace tuner::search
