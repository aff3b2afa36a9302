#pragma once
/// The arithmetic of bench/truth. Pure.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace bench::truth {

/// The smallest of \p values that at least the part \p q of them (0..1) do not exceed. NaN for no values.
double quantile(std::vector<double> values, double q);

/// Part of all cases.
struct Rate {
  std::size_t hits = 0, cases = 0;

  double value() const;  ///< NaN for no cases
  /// The exact 95% interval (Clopper and Pearson, 1934), if the cases do not depend on each other: 0 to 1 for no cases.
  double low() const;
  double high() const;
};

/// Times of configurations by name. The k-th times of all are from the same process.
using Replays = std::map<std::string, std::vector<double>>;

/// The median of the ratios between the times of \p a and \p b in the same process. NaN if either was not replayed.
double paired_ratio(const Replays& replays, const std::string& a, const std::string& b);
/// The one of \p names that no other beats: whose paired ratio to each of them is at most 1. If noise lets each be
/// beaten by another, the one with the lowest median. Empty for no names.
std::string fastest(const Replays& replays, std::span<const std::string> names);

/// By how much \p had may differ from \p told: 2% of it, or 50 ns if that is more.
double tolerance_ns(double had);

}  // namespace bench::truth
