#pragma once
/// Turns a measurement into the number that a tuning minimises.

#include <optional>
#include <string>

#include <tuner/core/outcome.hpp>

namespace tuner {

struct Objective {
  std::string name = "time";  ///< "time": median nanoseconds; otherwise the metric of that name

  /// Nothing when the measurement does not carry the metric.
  std::optional<double> operator()(const Measurement& measurement) const {
    if (name == "time") return measurement.median_ns;
    const auto at = measurement.metrics.find(name);
    return at == measurement.metrics.end() ? std::nullopt : std::optional(at->second);
  }
};

}  // namespace tuner
