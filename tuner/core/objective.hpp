#pragma once
/// Computes the number that a tuning minimises from a measurement.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <tuner/core/outcome.hpp>

namespace tuner {

struct Objective {
  /// "time": median nanoseconds with a cold L2. "time_hot": the same without flushing L2; databases store it apart from
  /// "time". Any other name is a metric, whose smallest value wins. "max:" and a metric: its largest value wins.
  std::string name = "time";

  bool is_time() const { return name == "time" || name == "time_hot"; }
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

}  // namespace tuner
