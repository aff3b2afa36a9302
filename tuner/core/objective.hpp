#pragma once
/// Turns a measurement into the number that a tuning minimises.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <tuner/core/outcome.hpp>

namespace tuner {

struct Objective {
  /// "time": median nanoseconds with a cold L2; "time_hot": the same without flushing it, kept apart from "time" in
  /// databases; otherwise the metric of that name, of which the smallest wins, or "max:" and a metric's name, of which
  /// the largest wins.
  std::string name = "time";

  bool is_time() const { return name == "time" || name == "time_hot"; }
  bool is_larger_better() const { return name.starts_with("max:"); }
  /// The metric's name: without its direction.
  std::string metric() const { return is_larger_better() ? name.substr(4) : name; }

  /// What was measured of it, as people see it. Nothing when the measurement does not carry the metric.
  std::optional<double> value(double median_ns, const std::map<std::string, double>& metrics) const {
    if (is_time()) return median_ns;
    const auto at = metrics.find(metric());
    return at == metrics.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<double> value(const Measurement& measurement) const {
    return value(measurement.median_ns, measurement.metrics);
  }

  /// The number to minimise: where the largest wins, the reciprocal of the value, which keeps ratios as they are.
  std::optional<double> operator()(double median_ns, const std::map<std::string, double>& metrics) const {
    const std::optional<double> seen = value(median_ns, metrics);
    return seen && is_larger_better() ? 1 / std::max(*seen, kLeast) : seen;
  }
  std::optional<double> operator()(const Measurement& measurement) const {
    return (*this)(measurement.median_ns, measurement.metrics);
  }

 private:
  /// So that the reciprocal of nothing is a number.
  static constexpr double kLeast = 1e-12;
};

}  // namespace tuner
