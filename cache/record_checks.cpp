#include <cache/record_checks.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::cache {
namespace {

bool has_control(const std::string& text) {
  for (const unsigned char c : text) {
    if (c < 0x20 || c == 0x7f) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> problem_with(const KernelRecord& kernel) {
  if (kernel.name.empty() || has_control(kernel.name)) return "the kernel has no usable name";
  if (kernel.source_hash.size() != 64 ||
      kernel.source_hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return fmt::format("the source hash of kernel '{}' is not 64 lower-case hexadecimal digits", kernel.name);
  }
  if (kernel.objective.empty() || has_control(kernel.objective)) return "the objective has no usable name";
  return std::nullopt;
}

std::optional<std::string> problem_with(const DeviceRecord& device) {
  if (device.key.empty() || has_control(device.key)) return "the device has no usable key";
  if (device.backend.empty()) return fmt::format("device '{}' has no backend", device.key);
  if (!nlohmann::json::parse(device.properties, nullptr, false).is_object()) {
    return fmt::format("the properties of device '{}' are not a JSON object", device.key);
  }
  return std::nullopt;
}

std::optional<std::string> problem_with(const ProblemRecord& problem) {
  if (has_control(problem.choices)) return "the choices contain control characters";
  for (const auto& [name, value] : problem.sizes) {
    if (value < 0) return fmt::format("size '{}' is negative", name);
    if (name.empty() || name.find_first_of(" =") != std::string::npos || has_control(name)) {
      return fmt::format("'{}' cannot be the name of a size", name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> problem_with_configuration(const std::string& text) {
  if (text.empty()) return "the configuration is empty";
  if (text.size() > 65536) return "the configuration is longer than 65536 bytes";
  std::string previous;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto end = std::min(text.find(' ', begin), text.size());
    const auto equals = text.find('=', begin);
    if (equals == std::string::npos || equals >= end || equals == begin) {
      return fmt::format("'{}' in the configuration is not name=value", text.substr(begin, end - begin));
    }
    const auto name = text.substr(begin, equals - begin);
    if (!previous.empty() && name <= previous) {
      return fmt::format("the configuration is not in canonical form: '{}' stands behind '{}'", name, previous);
    }
    previous = name;
    begin = end + 1;
  }
  if (has_control(text)) return "the configuration contains control characters";
  return std::nullopt;
}

std::optional<std::string> problem_with(const TrialRecord& trial) {
  static const std::set<std::string> kinds = {"ok", "compile", "launch", "timeout", "wrong", "invalid"};
  if (!kinds.contains(trial.kind)) {
    return fmt::format("'{}' is no kind of trial (ok, compile, launch, timeout, wrong, invalid)", trial.kind);
  }
  return problem_with_configuration(trial.configuration);
}

std::optional<std::string> problem_with(const BestRecord& best) {
  if (const auto problem = problem_with(best.kernel)) return problem;
  if (const auto problem = problem_with(best.device)) return problem;
  if (const auto problem = problem_with(best.problem)) return problem;
  if (const auto problem = problem_with_configuration(best.configuration)) return problem;
  if (!std::isfinite(best.median_ns) || best.median_ns <= 0) return "median_ns is not a positive number";
  if (best.low_ns > best.median_ns || best.high_ns < best.median_ns) return "median_ns is outside of low_ns..high_ns";
  if (best.relative_noise < 0) return "noise is negative";
  if (best.samples < 1) return "samples is not at least 1";
  return std::nullopt;
}

}  // namespace tuner::cache
