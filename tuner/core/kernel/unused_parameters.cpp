#include <tuner/core/kernel/unused_parameters.hpp>

#include <map>
#include <set>
#include <string_view>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>

namespace tuner {

std::vector<std::string> unused_parameters(const KernelSpec& spec) {
  const std::string code = code_of(program_text(spec));
  std::set<std::string, std::less<>> used;
  std::map<const LaunchSpec*, std::set<std::string_view>> in_names;  // the words of instantiations
  for (const LaunchSpec& launch : spec.launches) {
    std::map<std::string_view, int> words;
    for (const std::string_view word : words_of(launch.instantiate)) ++words[word];
    for (const std::string_view argument : ignored_template_arguments(code, launch.instantiate))
      for (const std::string_view word : words_of(argument)) --words[word];
    for (const auto& [word, times] : words)
      if (times > 0) in_names[&launch].insert(word);
    used.insert(in_names[&launch].begin(), in_names[&launch].end());
    used.insert(launch.arguments.begin(), launch.arguments.end());
  }
  for_each_expression(spec, [&](const Expression& expression, const ExpressionUse& use) {
    if (use.role == ExpressionRole::constraint || use.role == ExpressionRole::other) return;
    // Names in braces are words of the instantiation.
    if (!use.stands_for.empty() && !(use.launch ? in_names[use.launch].contains(use.stands_for)
                                                : may_occur(spec, ProgramPart::kernel, use.stands_for)))
      return;
    used.insert(expression.names().begin(), expression.names().end());
  });
  std::vector<std::string> unused;
  for (const TuningParameter& parameter : spec.space.parameters())
    if (!used.contains(parameter.name)) unused.push_back(parameter.name);
  return unused;
}

}  // namespace tuner
