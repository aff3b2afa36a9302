#include <tuner/core/result/outcome.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <tuner/core/values/message_text.hpp>

namespace tuner {

namespace {
constexpr std::array<std::string_view, std::variant_size_v<Outcome>> kOutcomeNames{"ok",      "compile", "launch",
                                                                                   "timeout", "wrong",   "invalid"};
}

std::span<const std::string_view> outcome_names() { return kOutcomeNames; }

std::optional<OutcomeKind> outcome_kind(std::string_view name) {
  const auto at = std::ranges::find(kOutcomeNames, name);
  if (at == kOutcomeNames.end()) return std::nullopt;
  return static_cast<OutcomeKind>(at - kOutcomeNames.begin());
}

Outcome failure(OutcomeKind kind, std::string message, std::string log) {
  if (kind == OutcomeKind::compile) return CompileError{std::move(message), std::move(log)};
  if (kind == OutcomeKind::timeout) return Timeout{std::move(message)};
  if (kind == OutcomeKind::wrong) return WrongResult{std::move(message)};
  if (kind == OutcomeKind::invalid) return Invalid{std::move(message)};
  return LaunchError{std::move(message)};
}

std::string_view kind(const Outcome& outcome) { return kOutcomeNames[outcome.index()]; }

std::string_view message(const Outcome& outcome) {
  if (const auto* const invalid = std::get_if<Invalid>(&outcome)) return invalid->reason;
  return std::visit(
      [](const auto& one) -> std::string_view {
        if constexpr (requires { one.message; }) return one.message;
        return {};
      },
      outcome);
}

bool is_machine_fault(const Outcome& outcome) {
  if (const auto* error = std::get_if<CompileError>(&outcome)) return error->machine_fault;
  if (const auto* error = std::get_if<LaunchError>(&outcome)) return error->machine_fault;
  return false;
}

TrialTimes& TrialTimes::operator+=(const TrialTimes& other) {
  compile += other.compile;
  load += other.load;
  verify += other.verify;
  measure += other.measure;
  wait += other.wait;
  return *this;
}

double time_ratio(const Trial& one, const Trial& other) {
  if (one.search.has_value() == other.search.has_value())
    return one.measurement()->median_ns / other.measurement()->median_ns;
  return one.in_search().median_ns / other.in_search().median_ns;
}

std::string usual_failure(std::span<const Trial> trials, std::string_view kind) {
  std::map<std::string, std::size_t> messages;
  for (const Trial& trial : trials)
    if (!trial.measurement() && (kind.empty() || tuner::kind(trial.outcome) == kind))
      ++messages[first_line(message(trial.outcome))];
  const auto most = std::ranges::max_element(messages, {}, [](const auto& one) { return one.second; });
  return most == messages.end() ? "" : most->first;
}

}  // namespace tuner
