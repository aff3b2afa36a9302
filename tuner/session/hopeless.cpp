#include <tuner/session/hopeless.hpp>

#include <algorithm>
#include <string_view>

#include <tuner/core/scanner.hpp>
#include <tuner/core/scoped_code.hpp>

namespace tuner {
namespace {

constexpr std::size_t kEnough = 4;  // trials

bool says(std::string_view message, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view one) { return message.find(one) != std::string_view::npos; });
}

/// Whether \p message is about a file that \p text includes under all conditions.
bool is_about_an_include(std::string_view message, std::string_view text) {
  if (!says(message, {"cannot open source file", "No such file", "file not found"})) return false;
  const ScopedCode code(code_of(text, Literals::kept));
  const std::vector<DirectiveLine> lines = directives_of(code.text());
  return std::any_of(lines.begin(), lines.end(), [&](const DirectiveLine& line) {
    const std::string_view rest = line.rest();
    return line.name() == "include" && rest.size() > 2 &&
           message.find(rest.substr(1, rest.size() - 2)) != std::string_view::npos && code.is_always_there(line.begin);
  });
}

}  // namespace

bool none_compiles(const KernelSpec& spec, std::span<const Trial> trials) {
  std::vector<const Trial*> failed;
  for (const Trial& trial : trials) {
    if (std::holds_alternative<Invalid>(trial.outcome)) continue;
    const auto* const error = std::get_if<CompileError>(&trial.outcome);
    if (error == nullptr || error->machine_fault ||
        message(failed.empty() ? trial.outcome : failed.front()->outcome) != error->message)
      return false;
    failed.push_back(&trial);
  }
  if (failed.empty()) return false;
  const std::string_view first = message(failed.front()->outcome);
  if (is_about_an_include(first, spec.program.text)) return true;
  if (failed.size() < kEnough || says(first, {"static assertion", "static_assert", "#error"})) return false;
  const auto& parameters = spec.space.parameters();
  return std::all_of(parameters.begin(), parameters.end(), [&](const TuningParameter& one) {
    const Value& value = *failed.front()->configuration.find(one.name);
    return one.values.size() == 1 || std::any_of(failed.begin(), failed.end(), [&](const Trial* trial) {
             return *trial->configuration.find(one.name) != value;
           });
  });
}

}  // namespace tuner
