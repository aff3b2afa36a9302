#pragma once
/// Compares two sets of results: which became faster, which slower, and which their intervals do not distinguish. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cache/records/stored_records.hpp>

namespace tuner::report {

enum class Change { slower, faster, same, only_a, only_b };
std::string_view name(Change change);

struct Compared {
  Change change = Change::same;
  std::optional<cache::BestRecord> a, b;  ///< at least one is present
  /// The median of B divided by that of A, and its bounds by both intervals. Absent if A or B lacks what it needs.
  std::optional<double> ratio, low, high;
  bool same_source = true;    ///< of the kernel
  bool same_software = true;  ///< driver and compiler
};

struct CompareOptions {
  /// Two runs may differ by this much, although each has a narrow interval, because of clocks, memory and temperature.
  /// A change counts only if the bound nearest to 1 is further away.
  double margin = 0.01;
  /// Match results of different devices. Each side has only one device.
  bool across_devices = false;
};

/// Matches results by kernel, objective, choices, sizes and device. If a side has several, with different software or
/// sources, the latest counts. Sorted: slower ones first, by how much, then faster, undecided and one-sided ones.
std::vector<Compared> compare(const std::vector<cache::BestRecord>& a, const std::vector<cache::BestRecord>& b,
                              const CompareOptions& options = {});

}  // namespace tuner::report
