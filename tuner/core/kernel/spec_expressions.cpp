#include <tuner/core/kernel/spec_expressions.hpp>

#include <map>
#include <optional>
#include <set>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>

namespace tuner {
namespace {

using Role = ExpressionRole;

class ExpressionWalk {
 public:
  explicit ExpressionWalk(const std::function<void(const Expression&, const ExpressionUse&)>& visit) : visit_(visit) {}

  void constraint(const Constraint& constraint) const { visit_(constraint.predicate, {Role::constraint}); }

  void buffer(const BufferSpec& buffer) const {
    if (buffer.is_work_space())
      visit_(buffer.count, {Role::work_space});
    else
      visit_(buffer.count, {Role::other, "only scratch and zeroed buffers may depend on parameters"});
    if (buffer.fill) fill(buffer.name, *buffer.fill);
    if (buffer.record)
      for (const RecordField& field : buffer.record->fields)
        if (field.fill) fill(buffer.name + '.' + field.name, *field.fill);
    ExpressionUse use{Role::other, "all configurations are compared alike"};
    use.of_elements = "compare " + buffer.name;
    visit_if(buffer.compared, use);
  }

  void scalar(const ScalarSpec& scalar) const {
    for (const ScalarValue& value : scalar.values)
      visit_if(value.computed, {Role::other, "a scalar is the same for every configuration"});
  }

  void texture(const TextureSpec& texture) const {
    for (const Expression& extent : texture.extent)
      visit_(extent, {Role::other, "textures are the same for every configuration"});
  }

  void tensor_map(const TensorMapSpec& map) const {
    for (const Expression& number : map.numbers) visit_(number, {Role::launch});
  }

  /// \p why_fixed: as in ExpressionUse, for launches that only tuning makes.
  void launch(const LaunchSpec& launch, std::string_view why_fixed = {}) const {
    ExpressionUse use{Role::launch, why_fixed, nullptr, &launch, !why_fixed.empty()};
    visit_if(launch.when, use);
    if (launch.when) use.when = &*launch.when;
    for (const auto* const extents : {&launch.grid, &launch.block})
      for (const Expression& extent : *extents) visit_(extent, use);
    visit_(launch.shared_bytes, use);
    visit_if(launch.cooperative, use);
    visit_if(launch.untimed, use);
    if (launch.cluster)
      for (const Expression& extent : *launch.cluster) visit_(extent, use);
    visit_if(launch.dependent, use);
    visit_if(launch.carveout, use);
    use.may_be_word = true;
    for (const ComputedArgument& argument : launch.computed_arguments) visit_(argument.value, use);
    use.role = Role::code;
    for (const ComputedText& text : launch.computed_texts) {
      use.stands_for = text.text;
      visit_(text.value, use);
    }
  }

  void option(const CompileOptionSpec& option) const {
    ExpressionUse use{Role::code};
    visit_if(option.when, use);
    if (option.when) use.when = &*option.when;
    use.may_be_word = true;
    for (const auto& part : option.parts)
      if (const auto* const value = std::get_if<Expression>(&part)) visit_(*value, use);
  }

  void macro(const MacroSpec& macro) const {
    ExpressionUse use{Role::code};
    use.may_be_word = true;
    use.stands_for = macro.name;
    visit_(macro.value, use);
  }

  void visit_if(const std::optional<Expression>& expression, const ExpressionUse& use) const {
    if (expression) visit_(*expression, use);
  }

 private:
  /// \p name: of a buffer, or of a field of one.
  void fill(const std::string& name, const FillSpec& fill) const {
    ExpressionUse use{Role::other, "inputs are the same for every configuration"};
    visit_if(fill.low, use);
    visit_if(fill.high, use);
    use.of_elements = "fill " + name + " = expression";
    visit_if(fill.element, use);
  }

  const std::function<void(const Expression&, const ExpressionUse&)>& visit_;
};

}  // namespace

void for_each_expression(const KernelSpec& spec,
                         const std::function<void(const Expression&, const ExpressionUse&)>& visit) {
  const ExpressionWalk walk(visit);
  for (const CompileOptionSpec& option : spec.program.compile_options) walk.option(option);
  for (const MacroSpec& macro : spec.program.macros) walk.macro(macro);
  for (const Constraint& constraint : spec.space.constraints()) walk.constraint(constraint);
  for (const BufferSpec& buffer : spec.buffers) walk.buffer(buffer);
  for (const ScalarSpec& scalar : spec.scalars) walk.scalar(scalar);
  for (const TextureSpec& texture : spec.textures) walk.texture(texture);
  for (const TensorMapSpec& map : spec.tensor_maps) walk.tensor_map(map);
  for (const LaunchSpec& launch : spec.launches) walk.launch(launch);
  for (const LaunchSpec& launch : spec.prepare)
    walk.launch(launch, "what a run starts from does not depend on parameters");
  for (const LaunchSpec& launch : spec.verification.reference)
    walk.launch(launch, "a reference does not depend on parameters");
  for (const auto* const amount : {&spec.verification.accumulates, &spec.work.bytes, &spec.work.flops})
    walk.visit_if(*amount, {Role::other, "it describes the problem, not a configuration"});
  for (const auto* const amount : {&spec.work.in_flight, &spec.work.estimate, &spec.device_launches})
    walk.visit_if(*amount, {Role::other});
}

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
