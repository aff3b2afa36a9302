#pragma once
/// The number that a tuning minimises, computed from a measurement, and the limits that end a tuning.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/use.hpp>

namespace tuner {

/// The words for a use of a kernel, and the objective that minimises its time in that use.
struct NamedUse {
  std::string_view name;  ///< of `--as`
  std::string_view objective;
  std::string_view surroundings;  ///< for the end of a sentence about a time
};
/// In the order of Use.
inline constexpr NamedUse kUses[] = {
    {"single", "time", "cold L2"},
    {"hot", "time_hot", "hot L2"},
    {"stream", "time_stream", "after another kernel"},
    {"graph", "time_graph", "as a node of a graph"},
};
inline constexpr const NamedUse& named(Use use) { return kUses[static_cast<std::size_t>(use)]; }
/// The use with this word.
inline std::optional<Use> use_of(std::string_view name) {
  const NamedUse* const at = find_named(kUses, name);
  return at == nullptr ? std::nullopt : std::optional(static_cast<Use>(at - kUses));
}

struct Objective {
  /// The objective of a NamedUse: median nanoseconds in that use; databases store each apart. Any other name is a
  /// metric, whose smallest value wins. "max:" and a metric: its largest value wins.
  std::string name = "time";

  static Objective time_of(Use use) { return {std::string(named(use).objective)}; }
  /// The use whose time is minimised; nothing for a metric.
  std::optional<Use> use() const {
    for (const NamedUse& one : kUses)
      if (one.objective == name) return static_cast<Use>(&one - kUses);
    return std::nullopt;
  }
  bool is_time() const { return use().has_value(); }
  bool is_larger_better() const { return name.starts_with("max:"); }
  /// The metric's name, without "max:".
  std::string metric() const { return is_larger_better() ? name.substr(4) : name; }

  /// The measured value, as it is shown. Nothing if the measurement does not have the metric.
  std::optional<double> value(double median_ns, const std::map<std::string, double>& metrics) const {
    if (is_time()) return median_ns;
    const auto at = metrics.find(metric());
    return at == metrics.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<double> value(const Measurement& measurement) const {
    return value(measurement.median_ns, measurement.metrics);
  }

  /// The number to minimise. If the largest value wins, it is the reciprocal, which preserves ratios.
  std::optional<double> operator()(double median_ns, const std::map<std::string, double>& metrics) const {
    const std::optional<double> seen = value(median_ns, metrics);
    return seen ? std::optional(minimised(*seen)) : seen;
  }
  /// The same for a value().
  double minimised(double seen) const { return is_larger_better() ? 1 / std::max(seen, kLeast) : seen; }
  std::optional<double> operator()(const Measurement& measurement) const {
    return (*this)(measurement.median_ns, measurement.metrics);
  }

 private:
  /// Limits the reciprocal of 0.
  static constexpr double kLeast = 1e-12;
};

/// When a tuning stops. Every limit is optional. The first one that is reached ends the search. Without any limit, the
/// search ends when the strategy has nothing left to propose.
struct Budget {
  std::optional<std::chrono::duration<double>> wall_time;
  std::optional<std::size_t> trials;
  std::optional<double> fraction;        ///< of the valid configurations, 0..1
  std::optional<double> target;          ///< stop at a value of the objective that is as good as this
  std::optional<double> until_unlikely;  ///< stop when P(an improvement of 1%) falls below this, 0..1

  /// The number of trials that ends a search of \p valid configurations; nothing if trials are not limited.
  std::optional<std::size_t> trials_of(std::size_t valid) const {
    if (!fraction) return trials;
    const auto share = static_cast<std::size_t>(std::ceil(*fraction * static_cast<double>(valid)));
    return std::min(trials.value_or(share), share);
  }
};

}  // namespace tuner
