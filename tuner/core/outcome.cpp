#include <tuner/core/outcome.hpp>

namespace tuner {

std::string_view kind(const Outcome& outcome) {
  constexpr std::string_view names[] = {"ok", "compile", "launch", "timeout", "wrong", "invalid"};
  return names[outcome.index()];
}

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
