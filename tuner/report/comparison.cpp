#include <tuner/report/comparison.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

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

std::string percent(double share) { return fmt::format("{:.3g}%", 100 * share); }

std::string stored_samples(const cache::BestRecord& a, const cache::BestRecord& b) {
  return fmt::format("{} and {} samples of one tuning each", a.samples, b.samples);
}

Compared compare_pair(const cache::BestRecord& a, const cache::BestRecord& b, double margin) {
  Compared out;
  out.a = a;
  out.b = b;
  out.same_source = a.kernel.source_hash == b.kernel.source_hash;
  out.same_software = a.environment.same_software(b.environment);
  if (a.median_ns > 0 && b.median_ns > 0) out.ratio = b.median_ns / a.median_ns;
  if (!has_interval(a) || !has_interval(b)) {
    out.why = "a result has no interval";
    return out;
  }
  out.low = b.low_ns / a.high_ns;
  out.high = b.high_ns / a.low_ns;
  if (*out.low > 1 + margin)
    out.change = Change::slower;
  else if (*out.high < 1 / (1 + margin))
    out.change = Change::faster;
  else if (*out.low >= 1 / (1 + margin) && *out.high <= 1 + margin)
    out.change = Change::same;
  out.why = fmt::format("the 95% intervals {} {}, {}",
                        out.change == Change::undecided ? "allow more and less than"
                        : out.change == Change::same    ? "allow no more than"
                                                        : "allow no less than",
                        percent(margin), stored_samples(a, b));
  return out;
}

/// The worst comes first within a kind.
std::pair<int, double> order(const Compared& one) {
  const double ratio = one.ratio.value_or(1);
  return {static_cast<int>(one.change), one.change == Change::faster ? ratio : -ratio};
}

}  // namespace

std::string_view name(Change change) {
  constexpr std::string_view names[] = {"slower", "faster", "undecided", "same", "only in A", "only in B"};
  return names[static_cast<std::size_t>(change)];
}

std::vector<Compared> compare(const std::vector<cache::BestRecord>& a, const std::vector<cache::BestRecord>& b,
                              const CompareOptions& options) {
  const Latest in_a = latest_of(a, options.across_devices), in_b = latest_of(b, options.across_devices);
  std::vector<Compared> all;
  const auto one_sided = [&all](Change change, const cache::BestRecord& best) {
    Compared& one = all.emplace_back();
    one.change = change;
    (change == Change::only_a ? one.a : one.b) = best;
  };
  for (const auto& [what, one] : in_a) {
    const auto other = in_b.find(what);
    if (other != in_b.end())
      all.push_back(compare_pair(*one, *other->second, options.margin));
    else
      one_sided(Change::only_a, *one);
  }
  for (const auto& [what, one] : in_b)
    if (!in_a.count(what)) one_sided(Change::only_b, *one);
  sort(all);
  return all;
}

void decide_by(Compared& one, const PairedComparison& measured, double seconds, const CompareOptions& options) {
  one.measured = measured;
  one.change = measured.verdict == Difference::slower   ? Change::slower
               : measured.verdict == Difference::faster ? Change::faster
               : measured.verdict == Difference::same   ? Change::same
                                                        : Change::undecided;
  if (measured.placements > 0) one.ratio = measured.ratio;
  one.low.reset();
  one.high.reset();
  if (measured.confidence <= 0) {
    one.why = fmt::format("only {} of {} placements were measured in {:.3g} s", measured.placements, measured.next_look,
                          seconds);
    return;
  }
  one.low = measured.low;
  one.high = measured.high;
  const std::string margin = percent(options.margin);
  one.why = fmt::format("the {:.6g}% interval {}, {} placements measured in {:.3g} s", 100 * measured.confidence,
                        one.change == Change::undecided ? "contains 1 and reaches beyond " + margin
                        : one.change == Change::same    ? "allows no more than " + margin
                                                        : "excludes 1",
                        measured.placements, seconds);
}

void call_equal(Compared& one) {
  one.change = Change::same;
  one.why = "both have the same source and configuration";
}

void sort(std::vector<Compared>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Compared& x, const Compared& y) { return order(x) < order(y); });
}

}  // namespace tuner::report
