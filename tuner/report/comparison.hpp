#pragma once
/// Compares two sets of results: which became faster, slower or stayed the same, and of which that is not known. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cache/records/stored_records.hpp>

#include <tuner/measure/numbers/paired_comparison.hpp>

namespace tuner::report {

enum class Change { slower, faster, undecided, same, only_a, only_b };
std::string_view name(Change change);

struct Compared {
  Change change = Change::undecided;
  std::optional<cache::BestRecord> a, b;  ///< at least one is present
  /// The median of B divided by that of A, and its bounds by both intervals. Absent if A or B lacks what it needs. If
  /// both were measured again, the ratio and its interval by that.
  std::optional<double> ratio, low, high;
  std::string why = {};                           ///< of `change`, in one clause
  std::optional<PairedComparison> measured = {};  ///< both were measured again, and that decides
  bool same_source = true;                        ///< of the kernel
  bool same_software = true;                      ///< driver and compiler
};

struct CompareOptions {
  /// Two runs may differ by this much, although each has a narrow interval, because of clocks, memory and temperature.
  /// A change counts only if the bound nearest to 1 is further away. Results are the same if both bounds are nearer.
  double margin = 0.01;
  /// Match results of different devices. Each side has only one device.
  bool across_devices = false;
};

/// Matches results by kernel, objective, choices, sizes and device. If a side has several, with different software or
/// sources, the latest counts. Sorted: slower ones first, by how much, then faster, undecided, equal and one-sided
/// ones.
std::vector<Compared> compare(const std::vector<cache::BestRecord>& a, const std::vector<cache::BestRecord>& b,
                              const CompareOptions& options = {});

/// Lets \p measured decide about \p one. \p seconds: what it took.
void decide_by(Compared& one, const PairedComparison& measured, double seconds, const CompareOptions& options = {});
/// Decides that both sides are one and the same thing.
void call_equal(Compared& one);
/// Sorts as compare() does, after decisions.
void sort(std::vector<Compared>& all);

}  // namespace tuner::report
