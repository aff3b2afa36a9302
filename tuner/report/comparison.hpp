#pragma once
/// Two sets of results side by side: what became faster, what slower, and what their intervals cannot tell apart. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cache/records.hpp>

namespace tuner::report {

enum class Change { slower, faster, same, only_a, only_b };
/// "slower", "faster", "cannot be told apart", "only in A", "only in B".
std::string_view name(Change change);

struct Compared {
  Change change = Change::same;
  std::optional<cache::BestRecord> a, b;  ///< one of them at least
  /// Median of B by median of A, and what the intervals of both allow; absent where either is missing.
  std::optional<double> ratio, low, high;
  bool same_source = true;    ///< of the kernel
  bool same_software = true;  ///< driver and compiler
};

struct CompareOptions {
  /// What two runs of the same differ by although each has a narrow interval: clocks, memory, temperature. A change
  /// counts where even the bound next to 1 is further away than this.
  double margin = 0.01;
  /// Results are matched across devices: each side is of one.
  bool across_devices = false;
};

/// Matched by kernel, objective, choices, sizes and device; of several with other software or source the latest on
/// each side counts. Slower ones first, by how much, then faster, undecided and one-sided ones.
std::vector<Compared> compare(const std::vector<cache::BestRecord>& a, const std::vector<cache::BestRecord>& b,
                              const CompareOptions& options = {});

}  // namespace tuner::report
