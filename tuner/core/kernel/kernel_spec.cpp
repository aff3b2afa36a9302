#include <tuner/core/kernel/kernel_spec.hpp>

#include <algorithm>

namespace tuner {

std::string_view text(ReferenceKind kind) {
  constexpr std::string_view texts[] = {"", "kernel", "default configuration", "answer in a file"};
  return texts[static_cast<std::size_t>(kind)];
}

std::string about_its_line(const BufferSpec& buffer) {
  if (buffer.typed_neighbour.empty()) return {};
  return " (a type after ':' is that of one buffer, here of '" + buffer.typed_neighbour + "' alone)";
}

bool RecordType::has_pointers() const {
  return std::ranges::any_of(fields, [](const RecordField& field) { return !field.pointer.empty(); });
}

std::vector<std::string> CompileOptionSpec::names() const {
  std::vector<std::string> result;
  const auto add = [&](const Expression& one) { result.insert(result.end(), one.names().begin(), one.names().end()); };
  if (when) add(*when);
  for (const auto& part : parts)
    if (const auto* const value = std::get_if<Expression>(&part)) add(*value);
  return result;
}

ReferenceKind KernelSpec::reference_kind() const {
  if (!verification.reference.empty()) return ReferenceKind::kernel;
  if (verification.default_is_reference) return ReferenceKind::default_configuration;
  const bool has_answer =
      std::ranges::any_of(buffers, [](const BufferSpec& buffer) { return buffer.answer.has_value(); });
  return has_answer ? ReferenceKind::file : ReferenceKind::none;
}

bool KernelSpec::has_reference_sources() const {
  return std::ranges::any_of(program.sources, &SourceFile::of_reference);
}

const ChoiceSpec* KernelSpec::type_choice() const {
  const auto type = std::ranges::find_if(choices, &ChoiceSpec::is_type);
  return type == choices.end() ? nullptr : &*type;
}

std::vector<std::string> KernelSpec::taken_by(const LaunchSpec& launch) const {
  std::vector<std::string> names = launch.arguments;
  for (const std::string& argument : launch.arguments) {
    if (const TensorMapSpec* const map = find_tensor_map(argument)) names.push_back(map->buffer);
    const ScalarSpec* const scalar = find_scalar(argument);
    if (scalar == nullptr) continue;
    for (const ScalarValue& value : scalar->values)
      if (!value.address.empty() && value.address != kNullPointer) names.push_back(value.address);
  }
  return names;
}

}  // namespace tuner
