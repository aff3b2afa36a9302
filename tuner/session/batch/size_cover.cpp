#include <tuner/session/batch/size_cover.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace tuner {
namespace {

/// A branch must lower the largest regret beyond the tolerance by so much, or the mean one.
constexpr double kWorthInWorst = 0.001, kWorthInMean = 0.002;

/// Positions of sizes.
using Set = std::vector<std::size_t>;

struct Cost {
  double excess = 0;  // of the largest regret over the tolerance
  double sum = 0;     // weighted regrets

  bool operator<(const Cost& other) const { return std::tie(excess, sum) < std::tie(other.excess, other.sum); }
  bool is_possible() const { return std::isfinite(sum); }
};
Cost both(const Cost& a, const Cost& b) { return {std::max(a.excess, b.excess), a.sum + b.sum}; }

/// Sizes are divided by the product of some.
struct Axis {
  std::vector<std::string> names;
  std::vector<double> values;  // by size
};

/// One configuration, or two trees on the two sides of a bound.
struct Tree {
  Cost cost;
  std::size_t configuration = 0;
  const Axis* axis = nullptr;  // null: one configuration
  double below = 0;
  std::shared_ptr<const Tree> left = nullptr, right = nullptr;
};
using TreePointer = std::shared_ptr<const Tree>;

/// A bound between \p low and \p high: a power of two if there is one, because the classes of sizes begin there.
double bound_between(double low, double high) {
  const double middle = std::sqrt(std::max(low, 0.5) * high);
  const double power = std::exp2(std::floor(std::log2(high)));
  if (power <= low) return std::clamp(std::ceil(middle), low, high);
  const double near = std::exp2(std::round(std::log2(middle)));
  return near > low && near <= high ? near : power;
}

class Cover {
 public:
  Cover(std::span<const JointSize> sizes, const std::vector<std::vector<double>>& regrets, const CoverOptions& options)
      : sizes_(sizes), regrets_(regrets), options_(options) {
    Axis all;
    for (const auto& [name, value] : sizes.front().sizes) {
      Axis& one = axes_.emplace_back();
      one.names = {name};
      all.names.push_back(name);
    }
    if (axes_.size() > 1) axes_.push_back(std::move(all));
    for (Axis& axis : axes_)
      for (const JointSize& size : sizes) {
        double product = 1;
        for (const std::string& name : axis.names) product *= static_cast<double>(size.sizes.at(name));
        axis.values.push_back(product);
      }
  }

  /// The simplest tree that is hardly worse than the best.
  TreePointer best() {
    Set all(sizes_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::ranges::stable_sort(all, {}, [this](std::size_t size) { return axes_.front().values[size]; });
    double weights = 0;
    for (const JointSize& size : sizes_) weights += size.weight;
    const TreePointer most = tree(all, options_.most_branches);
    for (std::size_t branches = 1; branches < options_.most_branches; ++branches) {
      const TreePointer few = tree(all, branches);
      if (few->cost.is_possible() && few->cost.excess <= most->cost.excess + kWorthInWorst &&
          few->cost.sum <= most->cost.sum + kWorthInMean * weights)
        return few;
    }
    return most;
  }

 private:
  Cost cost(const Set& set, std::size_t configuration) const {
    Cost all;
    for (const std::size_t size : set) {
      const double regret = regrets_[configuration][size];
      all = both(all, {std::max(0.0, regret - options_.tolerance), sizes_[size].weight * regret});
    }
    return all;
  }

  TreePointer leaf(const Set& set) const {
    Tree best{{HUGE_VAL, HUGE_VAL}};
    for (std::size_t c = 0; c < regrets_.size(); ++c)
      if (const Cost now = cost(set, c); now < best.cost) best = {now, c};
    return std::make_shared<const Tree>(std::move(best));
  }

  /// The best tree for \p set with at most \p branches. With several axes, both sides of a bound get about half of
  /// them, because all trees would take too long.
  TreePointer tree(const Set& set, std::size_t branches) {
    // With one axis, every set is what lies between two sizes.
    Set key = axes_.size() == 1 ? Set{set.front(), set.back()} : set;
    key.push_back(branches);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    TreePointer best = branches == 1 ? leaf(set) : tree(set, branches - 1);
    for (const Axis& axis : axes_) {
      if (branches == 1) break;
      std::vector<double> values;
      for (const std::size_t size : set) values.push_back(axis.values[size]);
      std::ranges::sort(values);
      values.erase(std::unique(values.begin(), values.end()), values.end());
      for (std::size_t cut = 1; cut < values.size(); ++cut) {
        Set low, high;
        for (const std::size_t size : set) (axis.values[size] < values[cut] ? low : high).push_back(size);
        for (std::size_t first = 1; first < branches; ++first) {
          if (axes_.size() > 1 && std::max(first, branches - first) > (branches + 1) / 2) continue;
          const TreePointer left = tree(low, first), right = tree(high, branches - first);
          const Cost now = both(left->cost, right->cost);
          if (!(now < best->cost)) continue;
          best = std::make_shared<const Tree>(
              Tree{now, 0, &axis, bound_between(values[cut - 1], values[cut]), left, right});
        }
      }
    }
    return known_[key] = best;
  }

  std::span<const JointSize> sizes_;
  const std::vector<std::vector<double>>& regrets_;
  const CoverOptions& options_;
  std::vector<Axis> axes_;
  std::map<Set, TreePointer> known_;
};

/// Adds the branches of \p tree, left before right, so that only left turns need a bound.
void add_branches(const Tree& tree, std::vector<SizeRule::Bound>& bounds, std::span<const Configuration> configurations,
                  std::vector<SizeRule::Branch>& branches) {
  if (tree.axis == nullptr) {
    branches.push_back({bounds, configurations[tree.configuration]});
    return;
  }
  bounds.push_back({tree.axis->names, tree.below});
  add_branches(*tree.left, bounds, configurations, branches);
  bounds.pop_back();
  add_branches(*tree.right, bounds, configurations, branches);
}

/// Whether all that \p inner holds for, \p outer holds for too.
bool is_within(const SizeRule::Branch& inner, const SizeRule::Branch& outer) {
  return std::ranges::all_of(outer.bounds, [&](const SizeRule::Bound& wide) {
    return std::ranges::any_of(inner.bounds, [&](const SizeRule::Bound& narrow) {
      return narrow.sizes == wide.sizes && narrow.below <= wide.below;
    });
  });
}

/// Removes branches after which the next one names the same configuration.
void merge_equal(std::vector<SizeRule::Branch>& branches) {
  for (std::size_t i = branches.size() - 1; i-- > 0;)
    if (branches[i].configuration == branches[i + 1].configuration && is_within(branches[i], branches[i + 1]))
      branches.erase(branches.begin() + static_cast<std::ptrdiff_t>(i));
}

}  // namespace

std::optional<SizeCover> cover_sizes(std::span<const JointSize> sizes, std::span<const Configuration> configurations,
                                     const std::vector<std::vector<double>>& regrets, const CoverOptions& options) {
  Cover cover(sizes, regrets, options);
  const TreePointer tree = cover.best();
  if (!tree->cost.is_possible()) return std::nullopt;
  SizeCover found;
  std::vector<SizeRule::Bound> bounds;
  add_branches(*tree, bounds, configurations, found.rule.branches);
  merge_equal(found.rule.branches);
  for (const JointSize& size : sizes)
    for (const auto& [name, value] : size.sizes) {
      const auto [at, is_new] = found.rule.range.try_emplace(name, SizeRule::Range{value, value});
      at->second.least = std::min(at->second.least, value);
      at->second.most = std::max(at->second.most, value);
    }
  double weights = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Configuration& chosen = found.rule.branch(sizes[i].sizes)->configuration;
    const auto at = std::ranges::find(configurations, chosen);
    found.choice.push_back(static_cast<std::size_t>(at - configurations.begin()));
    const double regret = regrets[found.choice.back()][i];
    found.worst = std::max(found.worst, regret);
    found.mean += sizes[i].weight * regret;
    weights += sizes[i].weight;
  }
  found.mean /= weights;
  return found;
}

}  // namespace tuner
