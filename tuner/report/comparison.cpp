#include <tuner/report/comparison.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner::report {
namespace {

using Subject = std::tuple<std::string, std::string, std::string, cache::Sizes, std::string>;

Subject subject(const cache::BestRecord& best, bool across_devices) {
  return {best.kernel.name, best.kernel.objective, best.problem.choices, best.problem.sizes,
          across_devices ? "" : best.device.key};
}

/// Of several results, the latest counts, then the one with more samples.
bool counts_more(const cache::BestRecord& one, const cache::BestRecord& other) {
  return std::pair(one.measured_ms, one.samples) > std::pair(other.measured_ms, other.samples);
}

using Latest = std::map<Subject, const cache::BestRecord*>;

Latest latest_of(const std::vector<cache::BestRecord>& rows, bool across_devices) {
  Latest latest;
  for (const cache::BestRecord& row : rows) {
    const auto [at, is_new] = latest.try_emplace(subject(row, across_devices), &row);
    if (!is_new && counts_more(row, *at->second)) at->second = &row;
  }
  return latest;
}

bool has_interval(const cache::BestRecord& best) {
  return best.low_ns > 0 && best.low_ns <= best.median_ns && best.median_ns <= best.high_ns &&
         std::isfinite(best.high_ns);
}

Compared compare_pair(const cache::BestRecord& a, const cache::BestRecord& b, double margin) {
  Compared out{Change::same,
               a,
               b,
               {},
               {},
               {},
               a.kernel.source_hash == b.kernel.source_hash,
               a.environment.same_software(b.environment)};
  if (a.median_ns > 0 && b.median_ns > 0) out.ratio = b.median_ns / a.median_ns;
  if (!has_interval(a) || !has_interval(b)) return out;
  out.low = b.low_ns / a.high_ns;
  out.high = b.high_ns / a.low_ns;
  if (*out.low > 1 + margin) out.change = Change::slower;
  if (*out.high < 1 / (1 + margin)) out.change = Change::faster;
  return out;
}

/// The worst comes first within a kind.
std::pair<int, double> order(const Compared& one) {
  const double ratio = one.ratio.value_or(1);
  return {static_cast<int>(one.change), one.change == Change::faster ? ratio : -ratio};
}

}  // namespace

std::string_view name(Change change) {
  constexpr std::string_view names[] = {"slower", "faster", "no significant change", "only in A", "only in B"};
  return names[static_cast<std::size_t>(change)];
}

std::vector<Compared> compare(const std::vector<cache::BestRecord>& a, const std::vector<cache::BestRecord>& b,
                              const CompareOptions& options) {
  const Latest in_a = latest_of(a, options.across_devices), in_b = latest_of(b, options.across_devices);
  std::vector<Compared> all;
  for (const auto& [what, one] : in_a) {
    const auto other = in_b.find(what);
    if (other != in_b.end())
      all.push_back(compare_pair(*one, *other->second, options.margin));
    else
      all.push_back({Change::only_a, *one, {}, {}, {}, {}});
  }
  for (const auto& [what, one] : in_b)
    if (!in_a.count(what)) all.push_back({Change::only_b, {}, *one, {}, {}, {}});
  std::stable_sort(all.begin(), all.end(), [](const Compared& x, const Compared& y) { return order(x) < order(y); });
  return all;
}

}  // namespace tuner::report
