#include <tuner/core/kernel/unused_parameters.hpp>

#include <map>
#include <set>
#include <string_view>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>

namespace tuner {

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
  for (const TensorMapSpec& map : spec.tensor_maps)
    for (const Expression& number : map.numbers) use(number);
  for (const CompileOptionSpec& option : spec.program.compile_options)
    for (const std::string& name : option.names()) used.insert(name);
  for (const MacroSpec& one : spec.program.macros)
    if (may_occur(spec, ProgramPart::kernel, one.name)) use(one.value);
  std::vector<std::string> unused;
  for (const TuningParameter& parameter : spec.space.parameters())
    if (!used.contains(parameter.name)) unused.push_back(parameter.name);
  return unused;
}

}  // namespace tuner
