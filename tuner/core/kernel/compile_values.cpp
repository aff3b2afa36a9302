#include <tuner/core/kernel/compile_values.hpp>

#include <algorithm>
#include <string_view>

#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/reference.hpp>

namespace tuner {
namespace {

/// Adds \p option if its condition is true.
void add_resolved(const CompileOptionSpec& option, const Bindings& bindings, std::vector<CompileOption>& options) {
  if (option.when && !option.when->evaluate_boolean(bindings)) return;
  CompileOption& result = options.emplace_back(CompileOption{{}, option.location});
  for (const auto& part : option.parts) {
    const auto* const value = std::get_if<Expression>(&part);
    result.text += value != nullptr ? value->evaluate(bindings).text() : std::get<std::string>(part);
  }
}

bool names_a_parameter(const KernelSpec& spec, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) { return spec.space.find(name) != nullptr; });
}

std::string macro(const MacroSpec& macro, const Bindings& bindings, const Replacements& values) {
  const auto named = is_name(macro.value) ? values.find(macro.value.names().front()) : values.end();
  return macro.name + '=' + (named != values.end() ? named->second : cpp_text(macro.value.evaluate(bindings)));
}

}  // namespace

std::vector<CompileOption> compile_options(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                           const Configuration& configuration) {
  if (spec.program.compile_options.empty()) return {};
  const Bindings all = bindings(spec, size, limits, configuration);
  std::vector<CompileOption> result;
  for (const CompileOptionSpec& option : spec.program.compile_options) add_resolved(option, all, result);
  return result;
}

std::vector<CompileOption> reference_options(const KernelSpec& spec, const ProblemSize& size,
                                             const DeviceLimits& limits) {
  const Configuration configuration = reference_configuration(spec);
  const Bindings all = bindings(spec, size, limits, configuration);
  std::vector<CompileOption> result;
  for (const CompileOptionSpec& option : spec.program.compile_options) {
    if (configuration.empty() && names_a_parameter(spec, option.names())) continue;
    add_resolved(option, all, result);
  }
  std::erase_if(result, [](const CompileOption& one) { return !belongs_to_reference(one.text); });
  return result;
}

std::vector<std::string> macros(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                const Configuration& configuration) {
  if (spec.program.macros.empty()) return {};
  const Bindings all = bindings(spec, size, limits, configuration);
  const auto values = replacements(spec, size, configuration);
  std::vector<std::string> result;
  for (const MacroSpec& one : spec.program.macros) result.push_back(macro(one, all, values));
  return result;
}

std::vector<std::string> reference_macros(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  if (spec.program.macros.empty()) return {};
  Configuration configuration;
  for (const TuningParameter& parameter : spec.space.parameters())
    configuration.set(parameter.name, parameter.values.front());
  if (spec.default_configuration) configuration = *spec.default_configuration;
  const Bindings all = bindings(spec, size, limits, configuration);
  const auto values = replacements(spec, size, configuration);
  std::vector<std::string> result;
  for (const MacroSpec& one : spec.program.macros) {
    if (spec.has_reference_sources() && names_a_parameter(spec, one.value.names())) continue;
    try {
      result.push_back(macro(one, all, values));
    } catch (const EvaluationError&) {  // the first values may make an invalid configuration
    }
  }
  return result;
}

std::vector<std::string> defines(const KernelSpec& spec, const ProblemSize& size) {
  std::vector<std::string> result{"TUNER=1"};
  for (const ChoiceSpec& choice : spec.choices) {
    const auto at = size.choices.find(choice.name);
    result.push_back("TUNER_" + choice.name + "_" + (at == size.choices.end() ? choice.values.front() : at->second) +
                     "=1");
  }
  return result;
}

Replacements replacements(const KernelSpec& spec, const ProblemSize& size, const Configuration& configuration) {
  Replacements values;
  for (const auto& [name, value] : size.sizes) values[name] = std::to_string(value);
  for (const auto& [name, value] : size.choices) values[name] = value;
  const auto set_type = [&](const std::string& name) { values[name] = info(resolved_type(spec, size, name)).spelling; };
  for (const ChoiceSpec& choice : spec.choices) {
    if (choice.is_type) set_type(choice.name);
  }
  for (const DerivedTypeSpec& type : spec.derived_types) set_type(type.name);
  for (const auto& [name, value] : configuration.entries()) values[name] = cpp_text(value);
  return values;
}

std::string cpp_text(const Value& value) {
  return value.is_integer() && value.integer() < 0 ? "(" + value.text() + ")" : value.text();
}

}  // namespace tuner
