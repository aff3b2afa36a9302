#include <tuner/session/tuning/no_result.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/format.hpp>

namespace tuner {

Error no_winner(const KernelSpec& spec, const ProblemSize& size, const SessionResult& result) {
  const std::string what = spec.name + ' ' + size.text() + ": ";
  if (result.trials.empty())
    return Error(what + "no configuration was measured (" + std::string(text(result.stop_reason)) + ')');
  const std::string trials = plural(result.trials.size(), "configuration");
  if (std::ranges::all_of(result.trials, [](const Trial& trial) { return trial.measurement() != nullptr; }))
    return Error(what + trials + " ran, but none was verified against a reference");
  const bool lacked_memory = std::ranges::any_of(result.trials, [](const Trial& trial) {
    const auto* const failure = std::get_if<LaunchError>(&trial.outcome);
    return failure != nullptr && failure->code == ErrorCode::out_of_memory;
  });
  return Error(lacked_memory ? ErrorCode::out_of_memory : ErrorCode::other,
               what + "none of " + trials + " worked, most often because: " + usual_failure(result.trials));
}

std::string explain_empty_space(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  if (const auto never = why_never(spec, limits)) return "kernel '" + spec.name + "' " + *never + ". Choose a GPU.";
  if (const auto impossible = why_impossible(spec, size, limits))
    return "kernel '" + spec.name + "' is not for " + size.text() + ": " + *impossible;
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
