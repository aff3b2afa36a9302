#pragma once
/// Turns a measurement into the number that a tuning minimises.

#include <optional>
#include <string>

#include <tuner/core/outcome.hpp>

namespace tuner {

struct Objective {
  /// "time": median nanoseconds with a cold L2; "time_hot": the same without flushing it, kept apart from "time" in
  /// databases; otherwise the metric of that name.
  std::string name = "time";

  bool is_time() const { return name == "time" || name == "time_hot"; }

  /// Nothing when the measurement does not carry the metric.
  std::optional<double> operator()(const Measurement& measurement) const {
    if (is_time()) return measurement.median_ns;
    const auto at = measurement.metrics.find(name);
    return at == measurement.metrics.end() ? std::nullopt : std::optional(at->second);
  }
};

}  // namespace tuner
