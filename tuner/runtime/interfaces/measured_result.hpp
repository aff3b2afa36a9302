#pragma once
/// Results of tune() and run(), and their warnings.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/result/outcome.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/session/tuning/tune_session.hpp>

namespace tuner::runtime {

/// Warnings go to Settings::on_warning.
struct Warner : Observer {
  void on_warning(std::string_view message) override { Serving::process().warn(message); }
};

/// A TuneResult or RunResult from a stored record or a measurement.
template <typename Result, typename Times>
Result result_of(std::string configuration, const Times& times) {
  Result result;
  result.configuration = std::move(configuration);
  result.median_ns = times.median_ns;
  result.low_ns = times.low_ns;
  result.high_ns = times.high_ns;
  return result;
}

/// The metrics of \p names that were measured.
inline std::map<std::string, double> metrics_of(const Measurement& measured, const std::vector<std::string>& names) {
  std::map<std::string, double> metrics;
  for (const std::string& name : names)
    if (const auto at = measured.metrics.find(name); at != measured.metrics.end()) metrics.insert(*at);
  return metrics;
}

}  // namespace tuner::runtime
