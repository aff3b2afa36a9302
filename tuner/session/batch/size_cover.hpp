#pragma once
/// Chooses a few configurations for many sizes, and the rule that says which size gets which. Pure arithmetic.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/core/result/size_rule.hpp>

namespace tuner {

/// A size of sizes that are tuned together.
struct JointSize {
  SizeRule::Sizes sizes;
  double weight = 1;  ///< how often it occurs; greater than 0
};

struct CoverOptions {
  std::size_t most_branches = 4;
  /// A choice that is slower than the best by this part is good enough. Only when all are, their mean counts.
  double tolerance = 0.03;
};

struct SizeCover {
  SizeRule rule;                    ///< without SizeRule::between
  std::vector<std::size_t> choice;  ///< for each size: a position in the configurations
  double worst = 0;                 ///< regret of any size
  double mean = 0;                  ///< regret, weighted
};

/// The rule with the least regret: the largest excess over the tolerance first, then the weighted mean. A branch that
/// improves neither by much is left out. \p regrets[c][s]: by how much configuration c is slower than the best at size
/// s, infinite if it cannot be used there. With one size in the kernel, bounds divide its values, and the rule is the
/// best possible. With several, bounds divide one of them or the product of all. nullopt if no configuration can be
/// used at some size, or no few of them at all. Equal arguments give equal rules. Precondition: there are sizes, all
/// with the same names.
std::optional<SizeCover> cover_sizes(std::span<const JointSize> sizes, std::span<const Configuration> configurations,
                                     const std::vector<std::vector<double>>& regrets, const CoverOptions& options = {});

}  // namespace tuner
