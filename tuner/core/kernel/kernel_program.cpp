#include <tuner/core/kernel/kernel_program.hpp>

#include <algorithm>
#include <set>

#include <tuner/core/cpp/definitions.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/expression/token.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/core/values/named.hpp>

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

/// Calls \p visit with each expression of \p option.
void expressions_of(const CompileOptionSpec& option, const auto& visit) {
  if (option.when) visit(*option.when);
  for (const auto& part : option.parts)
    if (const auto* const value = std::get_if<Expression>(&part)) visit(*value);
}

bool names_a_parameter(const KernelSpec& spec, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) { return spec.space.find(name) != nullptr; });
}

std::string macro(const MacroSpec& macro, const Bindings& bindings, const Replacements& values) {
  const auto named = is_name(macro.value) ? values.find(macro.value.names().front()) : values.end();
  return macro.name + '=' + (named != values.end() ? named->second : cpp_text(macro.value.evaluate(bindings)));
}

void add_option(const CompileOptionSpec& option, std::vector<Conjunct>& conjuncts) {
  expressions_of(option, [&](const Expression& part) {
    if (is_name(part)) return;
    const Expression has_answer = combine(Op::equal, {part, part});
    const bool is_condition = option.when && &part == &*option.when;
    conjuncts.push_back({!option.when || is_condition
                             ? has_answer
                             : combine(Op::logical_or, {combine(Op::logical_not, {*option.when}), has_answer}),
                         true});
  });
}

}  // namespace

std::string cpp_text(const Value& value) {
  return value.is_integer() && value.integer() < 0 ? "(" + value.text() + ")" : value.text();
}

std::vector<std::string> CompileOptionSpec::names() const {
  std::vector<std::string> result;
  expressions_of(*this, [&](const Expression& expression) {
    result.insert(result.end(), expression.names().begin(), expression.names().end());
  });
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

void add_compile_values(const KernelSpec& spec, std::vector<Conjunct>& conjuncts) {
  for (const CompileOptionSpec& option : spec.program.compile_options) add_option(option, conjuncts);
  for (const MacroSpec& one : spec.program.macros)
    if (!is_name(one.value)) conjuncts.push_back({combine(Op::equal, {one.value, one.value}), true});
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

bool KernelSpec::has_reference_sources() const {
  return std::ranges::any_of(program.sources, &SourceFile::of_reference);
}

bool may_occur(const KernelSpec& spec, ProgramPart part, std::string_view word) {
  if (occurs_in_code(program_text(spec, part), word)) return true;
  const bool own = part == ProgramPart::reference && spec.has_reference_sources();
  const std::shared_ptr<const Includes>& includes = own ? spec.program.reference_includes : spec.program.includes;
  if (!includes) return false;
  return includes->unknown || std::ranges::any_of(includes->files, [&](const IncludedFile& file) {
           return occurs_in_code(file.text, word);
         });
}

std::string without_definitions(std::string text, const std::vector<MacroSpec>& macros) {
  const std::vector<std::string> names = names_of(macros);
  return without_definitions(std::move(text), std::vector<std::string_view>(names.begin(), names.end()));
}

std::string program_text(const KernelSpec& spec, ProgramPart part) {
  const bool of_reference = part == ProgramPart::reference && spec.has_reference_sources();
  std::string text = whole_text(spec, part);
  return of_reference ? text : without_definitions(std::move(text), spec.program.macros);
}

std::string whole_text(const KernelSpec& spec, ProgramPart part) {
  const bool of_reference = part == ProgramPart::reference && spec.has_reference_sources();
  std::string text;
  std::size_t at = 0;
  int line = 1;
  for (const SourceFile& file : spec.program.sources) {
    if (file.of_reference != of_reference) continue;
    const std::size_t begin = at;
    for (; line <= file.line && at < spec.program.text.size(); ++line)
      at = std::min(spec.program.text.find('\n', at), spec.program.text.size() - 1) + 1;
    text.append(spec.program.text, begin, at - begin);
    if (!text.ends_with('\n')) text += '\n';
    text += line_directive(1, file.path) + file.text;
    if (!text.ends_with('\n')) text += '\n';
    text += line_directive(line, spec.program.file);
  }
  text.append(spec.program.text, at);
  return text;
}

std::vector<std::string> unused_parameters(const KernelSpec& spec) {
  const std::string code = code_of(program_text(spec));
  std::set<std::string, std::less<>> used;
  const auto use = [&](const Expression& expression) {
    used.insert(expression.names().begin(), expression.names().end());
  };
  for (const LaunchSpec& launch : spec.launches) {
    std::map<std::string_view, int> words;
    for (const std::string_view word : words_of(launch.instantiate)) ++words[word];
    for (const std::string_view argument : ignored_template_arguments(code, launch.instantiate))
      for (const std::string_view word : words_of(argument)) --words[word];
    for (const auto& [word, times] : words)
      if (times > 0) used.emplace(word);
    used.insert(launch.arguments.begin(), launch.arguments.end());
    for (const ComputedArgument& argument : launch.computed_arguments) use(argument.value);
    for (const ComputedText& text : launch.computed_texts)  // words in braces were counted above
      if (const auto let = words.find(text.text); let != words.end() && let->second > 0) use(text.value);
    for (const auto* extents : {&launch.grid, &launch.block})
      for (const Expression& extent : *extents) use(extent);
    use(launch.shared_bytes);
    if (launch.when) use(*launch.when);
    if (launch.cooperative) use(*launch.cooperative);
    if (launch.untimed) use(*launch.untimed);
  }
  for (const BufferSpec& buffer : spec.buffers) use(buffer.count);
  for (const CompileOptionSpec& option : spec.program.compile_options)
    for (const std::string& name : option.names()) used.insert(name);
  for (const MacroSpec& one : spec.program.macros)
    if (may_occur(spec, ProgramPart::kernel, one.name)) use(one.value);
  std::vector<std::string> unused;
  for (const TuningParameter& parameter : spec.space.parameters())
    if (!used.contains(parameter.name)) unused.push_back(parameter.name);
  return unused;
}

void bind_device_limits(Bindings& bindings, const DeviceLimits& limits) {
  bindings.set("warp_size", limits.warp_size);
  bindings.set("sm_count", limits.sm_count);
  bindings.set("max_threads_per_block", limits.max_threads_per_block);
  bindings.set("max_threads_per_sm", limits.max_threads_per_sm);
  bindings.set("max_blocks_per_sm", limits.max_blocks_per_sm);
  bindings.set("max_shared_bytes", limits.max_shared_bytes);
  bindings.set("shared_bytes_per_sm", limits.shared_bytes_per_sm);
  bindings.set("registers_per_block", limits.registers_per_block);
  bindings.set("max_grid_x", limits.max_grid[0]);
  bindings.set("max_grid_y", limits.max_grid[1]);
  bindings.set("cc", limits.compute_capability);
  bindings.set("is_host", limits.compute_capability == 0);
}

KnownNames known_names(const KernelSpec& spec) {
  KnownNames known;
  const std::vector<std::string> types = names_of(element_types());
  for (const std::string& name : device_limit_names()) known[name] = {};
  for (const SizeSpec& size : spec.sizes) known[size.name] = {};
  for (const DerivedTypeSpec& type : spec.derived_types) known[type.name] = {true, types};
  for (const ChoiceSpec& choice : spec.choices) {
    const bool is_word = choice.is_type || Value::parse(choice.values.front()).is_string();
    known[choice.name] = {is_word, choice.is_type ? types : choice.values};
  }
  for (const TuningParameter& parameter : spec.space.parameters())
    known[parameter.name] = {parameter.values.front().is_string(), texts_of(parameter.values)};
  return known;
}

}  // namespace tuner
