#include <tuner/session/empty_space.hpp>

#include <algorithm>
#include <map>
#include <random>

namespace tuner {

std::string explain_empty_space(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  if (const auto never = why_never(spec, limits)) return "kernel '" + spec.name + "' " + *never + ". Choose a GPU.";
  constexpr int kSample = 1000;
  std::mt19937_64 random(1);
  std::map<std::string, std::pair<int, std::string>> by_reason;  // name before ':' -> count, example
  for (int i = 0; i < kSample; ++i) {
    Configuration configuration;
    for (const TuningParameter& parameter : spec.space.parameters()) {
      configuration.set(parameter.name, parameter.values[random() % parameter.values.size()]);
    }
    const auto reason = why_invalid(spec, size, limits, configuration);
    if (!reason) continue;
    auto& [count, example] = by_reason[reason->substr(0, reason->find(':'))];
    ++count;
    if (example.empty()) example = *reason;
  }
  std::string message = "kernel '" + spec.name + "' has no valid configuration for " + size.text();
  const auto worst = std::max_element(by_reason.begin(), by_reason.end(),
                                      [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  if (worst != by_reason.end()) message += "; most often because " + worst->second.second;
  return message + ". Change the size, or relax the constraint.";
}

}  // namespace tuner
