#include <tuner/core/outcome.hpp>

#include <algorithm>
#include <array>

namespace tuner {

namespace {
constexpr std::array<std::string_view, std::variant_size_v<Outcome>> kOutcomeNames{"ok",      "compile", "launch",
                                                                                   "timeout", "wrong",   "invalid"};
}

std::string_view name(OutcomeKind kind) { return kOutcomeNames[static_cast<std::size_t>(kind)]; }
std::span<const std::string_view> outcome_names() { return kOutcomeNames; }

std::optional<OutcomeKind> outcome_kind(std::string_view name) {
  const auto at = std::find(kOutcomeNames.begin(), kOutcomeNames.end(), name);
  if (at == kOutcomeNames.end()) return std::nullopt;
  return static_cast<OutcomeKind>(at - kOutcomeNames.begin());
}

std::string_view kind(const Outcome& outcome) { return kOutcomeNames[outcome.index()]; }

std::string_view message(const Outcome& outcome) {
  struct Visitor {
    std::string_view operator()(const Measurement&) const { return {}; }
    std::string_view operator()(const CompileError& e) const { return e.message; }
    std::string_view operator()(const LaunchError& e) const { return e.message; }
    std::string_view operator()(const Timeout& e) const { return e.message; }
    std::string_view operator()(const WrongResult& e) const { return e.message; }
    std::string_view operator()(const Invalid& e) const { return e.reason; }
  };
  return std::visit(Visitor{}, outcome);
}

}  // namespace tuner
