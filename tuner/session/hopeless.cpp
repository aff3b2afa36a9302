#include <tuner/session/contest.hpp>

#include <algorithm>
#include <string_view>

#include <tuner/core/characters.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/scoped_code.hpp>

namespace tuner {
namespace {

constexpr std::size_t kEnough = 8;  // trials

bool says(std::string_view message, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view one) { return message.find(one) != std::string_view::npos; });
}

bool is_in_a_path(char c) { return is_word(c) || c == '/' || c == '.' || c == '-'; }

/// Whether \p message names \p file, and not a longer path that has it in it.
bool names(std::string_view message, std::string_view file) {
  for (std::size_t at = message.find(file); at != std::string_view::npos; at = message.find(file, at + 1)) {
    const std::size_t end = at + file.size();
    if ((at == 0 || !is_in_a_path(message[at - 1])) && (end == message.size() || !is_in_a_path(message[end])))
      return true;
  }
  return false;
}

/// Whether \p message says that a file is missing that \p text includes under all conditions.
bool misses_an_include(std::string_view message, std::string_view text) {
  if (!misses_a_file(message)) return false;
  const ScopedCode code(code_of(text, Literals::kept));
  const std::vector<DirectiveLine> lines = directives_of(code.text());
  return std::any_of(lines.begin(), lines.end(), [&](const DirectiveLine& line) {
    const std::string_view rest = line.rest();
    return line.name() == "include" && rest.size() > 2 && names(message, rest.substr(1, rest.size() - 2)) &&
           code.is_always_there(line.begin);
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
  if (misses_an_include(first, spec.program.text)) return true;
  if (failed.size() < kEnough || says(first, {"static assertion", "static_assert", "#error"})) return false;
  const auto has_failed = [&](const auto& is_it) {
    return std::any_of(failed.begin(), failed.end(), [&](const Trial* trial) { return is_it(trial->configuration); });
  };
  if (const auto& common = spec.default_configuration;
      common && !has_failed([&](const Configuration& one) { return one == *common; }))
    return false;
  const auto& parameters = spec.space.parameters();
  return std::all_of(parameters.begin(), parameters.end(), [&](const TuningParameter& parameter) {
    return std::all_of(parameter.values.begin(), parameter.values.end(), [&](const Value& value) {
      return has_failed([&](const Configuration& one) { return *one.find(parameter.name) == value; });
    });
  });
}

}  // namespace tuner
