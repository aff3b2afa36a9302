#pragma once
/// A rule that names a configuration for each size in a range: the result of sizes that were tuned together.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/values/configuration.hpp>

namespace tuner {

struct SizeRule {
  using Sizes = std::map<std::string, std::int64_t>;

  /// Holds if the product of \p sizes is less than \p below.
  struct Bound {
    std::vector<std::string> sizes;
    double below = 0;

    /// `m*n<65536`.
    std::string text() const;
    friend bool operator==(const Bound&, const Bound&) = default;
  };
  struct Branch {
    std::vector<Bound> bounds;
    Configuration configuration;

    /// The bounds: `m<64 and m*n<65536`; "else" without any.
    std::string condition() const;
    friend bool operator==(const Branch&, const Branch&) = default;
  };
  struct Range {
    std::int64_t least = 0, most = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  /// By how much the rule's choice is slower than the best at sizes that it was not made from. Each tuned size inside
  /// the range was left out once. 0.01 is 1%.
  struct Regret {
    double median = 0;
    double low = 0, high = 0;  ///< a 95% interval of the median
    double worst = 0;
    std::size_t sizes = 0;  ///< how many were left out; 0: nothing is known

    friend bool operator==(const Regret&, const Regret&) = default;
  };

  std::map<std::string, Range> range;  ///< by size; the rule says nothing about others
  std::vector<Branch> branches;        ///< the first whose bounds all hold counts; the last has none
  Regret between;

  /// The branch for \p sizes, or null if they are outside of the range or have other names. A range begins with the
  /// size class of its least size, because sizes of one class are served alike.
  const Branch* branch(const Sizes& sizes) const;

  /// One line: `n=1024..1048576; n<65536: block=64; else: block=256; between 0.004 0.001 0.011 0.032 28`.
  std::string text() const;
  /// Inverse of text(). nullopt for any other text.
  static std::optional<SizeRule> parse(std::string_view text);

  friend bool operator==(const SizeRule&, const SizeRule&) = default;
};

}  // namespace tuner
