#include <tuner/core/kernel_file/kernel_draft.hpp>

#include <algorithm>
#include <filesystem>

#include <tuner/core/cpp/definitions.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel_file/left_out.hpp>
#include <tuner/core/kernel_file/record_type.hpp>
#include <tuner/core/kernel_file/validate_kernel.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

/// Files that a source includes are looked for beside it, also when its text is compiled as part of another file.
void include_beside_sources(KernelSpec& spec) {
  std::vector<std::string> paths;
  const auto add = [&](std::string path) {
    if (path.empty()) path = ".";
    if (!contains(paths, path)) paths.push_back(std::move(path));
  };
  for (const SourceFile& file : spec.program.sources) add(std::filesystem::path(file.path).parent_path().string());
  for (const std::string& path : spec.program.include_paths) add(path);
  spec.program.include_paths = std::move(paths);
}

/// Null if there are none.
std::shared_ptr<const Includes> includes_of(const KernelSpec& spec, const std::string& program) {
  Includes includes = included_files(program, spec.program.file, spec.program.include_paths);
  if (!includes.unknown && includes.files.empty()) return nullptr;
  return std::make_shared<const Includes>(std::move(includes));
}

BufferSpec& named_buffer(KernelDraft& draft, const std::string& name, const SourceLocation& place) {
  if (BufferSpec* const buffer = find_named(draft.spec.buffers, name)) return *buffer;
  throw SpecError(place, "unknown buffer " + in_quotes(name) + suggestion(name, names_of(draft.spec.buffers)));
}

BufferSpec& named_output(KernelDraft& draft, const std::string& name, const SourceLocation& place) {
  BufferSpec& buffer = named_buffer(draft, name, place);
  if (!buffer.is_output())
    throw SpecError(place, in_quotes(name) + " is not an output: only 'out' and 'inout' buffers are compared");
  return buffer;
}

void fill_field(const KernelDraft& draft, BufferSpec& buffer, const FillDraft& pending) {
  const auto why = draft.untyped.find(buffer.name);
  if (!buffer.record)
    throw SpecError(pending.location, in_quotes(buffer.name) + " has no fields: " +
                                          (why != draft.untyped.end() ? why->second : "its elements are not structs"));
  RecordField* const field = find_named(buffer.record->fields, pending.field);
  if (field == nullptr)
    throw SpecError(pending.location, in_quotes(buffer.name) + " has no field " + in_quotes(pending.field) +
                                          suggestion(pending.field, names_of(buffer.record->fields)));
  field->fill = pending.fill;
  if (field->is_bool && !fits_bool(field->fill))
    throw SpecError(pending.location, in_quotes(filled_name(pending)) +
                                          " is a bool: fill it with 'constant 0', 'constant 1' or 'uniform 0 2'");
}

void apply(KernelDraft& draft, const FillDraft& pending) {
  BufferSpec& buffer = named_buffer(draft, pending.buffer, pending.location);
  if (!buffer.is_input())
    throw SpecError(pending.location,
                    in_quotes(pending.buffer) +
                        " is not an input: only 'in', 'constant', 'inout' and 'consumed' buffers are filled");
  if (!pending.field.empty()) return fill_field(draft, buffer, pending);
  buffer.fill = pending.fill;
}

/// A file fills whole records: their fields cannot have other fills.
void require_one_source(KernelDraft& draft, const FillDraft& pending) {
  const BufferSpec& buffer = named_buffer(draft, pending.buffer, pending.location);
  if (!pending.field.empty() && buffer.fill && !buffer.fill->path.empty())
    throw SpecError(pending.location, "all fields of " + in_quotes(buffer.name) + " are filled from " +
                                          in_quotes(buffer.fill->path) + ": remove one of the two fills");
}

/// A name of a buffer among the numbers of a struct is the address of the buffer.
void find_addresses(KernelSpec& spec) {
  for (ScalarSpec& scalar : spec.scalars)
    for (ScalarValue& value : scalar.values) {
      if (!value.computed || !is_name(*value.computed) || !spec.find_buffer(value.computed->names().front())) continue;
      value.address = value.computed->names().front();
      value.computed.reset();
    }
}

/// Blocks of 256 threads, one thread for each element of \p buffer.
void set_thread_each(LaunchSpec& launch, const BufferSpec& buffer) {
  const std::int64_t numbers = std::int64_t{256} * buffer.components;
  const std::string text = "max(1, ceil_div(" + buffer.count.text() + ", " + std::to_string(numbers) + "))";
  const Expression blocks = combine(Op::ceil_div, {buffer.count, Expression::constant(numbers)}, text);
  launch.grid[0] = combine(Op::maximum, {blocks, Expression::constant(1)}, text);
  launch.block[0] = Expression::constant(256);
}

/// A launch without a shape gets one thread for each element of this buffer. For a reference, it is the first output.
/// For a 'prepare', it is the first buffer that the launch may change.
const BufferSpec* buffer_of_threads(const KernelSpec& spec, const LaunchDraft& one) {
  if (one.role == LaunchDraft::Role::reference) {
    const auto is_output = [](const BufferSpec& buffer) { return buffer.is_output(); };
    const auto output = std::ranges::find_if(spec.buffers, is_output);
    return output == spec.buffers.end() ? nullptr : &*output;
  }
  for (const std::string& argument : spec.taken_by(one.launch)) {
    const BufferSpec* const buffer = spec.find_buffer(argument);
    if (buffer && (buffer->role == BufferRole::inout || buffer->role == BufferRole::consumed)) return buffer;
  }
  return nullptr;
}

/// Adds \p one to its list. A reference without arguments gets those of the first launch, with buffers for tensor maps.
void add_launch(KernelSpec& spec, const LaunchDraft& one) {
  LaunchSpec launch = one.launch;
  const bool is_reference = one.role == LaunchDraft::Role::reference;
  if (is_reference && launch.arguments.empty() && !spec.launches.empty()) {
    launch.arguments = spec.launches.front().arguments;
    launch.computed_arguments = spec.launches.front().computed_arguments;
    for (std::string& argument : launch.arguments)
      if (const TensorMapSpec* const map = spec.find_tensor_map(argument)) argument = map->buffer;
  }
  if (one.role == LaunchDraft::Role::kernel) return spec.launches.push_back(std::move(launch));
  if (const BufferSpec* const buffer = buffer_of_threads(spec, one); buffer && !one.given.contains("grid"))
    set_thread_each(launch, *buffer);
  (is_reference ? spec.verification.reference : spec.prepare).push_back(std::move(launch));
}

/// The value that the texts give \p parameter by their only definition of it, if no compiler decides about that.
std::optional<Value> defined_value(KernelDraft& draft, const TuningParameter& parameter) {
  const ScopedCode& code = unchanged(draft);
  const std::vector<DefinedValue> all = definitions_of(code.text(), parameter.name);
  const auto is_value = [&](const Value& one) {
    return all.size() == 1 && !code.is_conditional(all.front().begin) && one.text() == all.front().value;
  };
  const auto at = std::ranges::find_if(parameter.values, is_value);
  return at == parameter.values.end() ? std::nullopt : std::optional(*at);
}

/// Completes the default with the values that the texts define. Without a `default`, all must be defined.
void complete_default(KernelDraft& draft) {
  KernelSpec& spec = draft.spec;
  const bool is_given = spec.default_configuration.has_value();
  Configuration values = spec.default_configuration.value_or(Configuration{});
  for (const TuningParameter& parameter : draft.parameters) {
    if (values.find(parameter.name) != nullptr) continue;
    const MacroSpec* const macro = find_named(spec.program.macros, parameter.name);
    const auto value = macro == nullptr ? std::nullopt : defined_value(draft, parameter);
    if (!value && !is_given) return;
    if (!value) continue;
    values.set(parameter.name, *value);
    draft.default_names.names[parameter.name] = macro->location;
    if (!is_given) draft.default_names.line = macro->location;
  }
  if (is_given || !draft.parameters.empty()) spec.default_configuration = std::move(values);
}

/// Completes the seeds with the values of the default.
void complete_seeds(KernelDraft& draft) {
  KernelSpec& spec = draft.spec;
  if (!spec.default_configuration) return;
  for (std::size_t i = 0; i < spec.seeds.size(); ++i)
    for (const auto& [name, value] : spec.default_configuration->entries())
      if (draft.seeds[i].names.emplace(name, draft.seeds[i].line).second) spec.seeds[i].set(name, value);
}

}  // namespace

std::string filled_name(const FillDraft& fill) {
  return fill.field.empty() ? fill.buffer : fill.buffer + '.' + fill.field;
}

bool KernelDraft::is_computed(std::string_view name) const {
  const auto is_integer = [](const std::string& value) { return Value::parse(value).is_integer(); };
  const ChoiceSpec* const choice = spec.find_choice(name);
  return lets.find(name) != lets.end() || (choice != nullptr && std::ranges::all_of(choice->values, is_integer));
}

void count_in_numbers(BufferSpec& buffer) {
  if (buffer.components == 1) return;
  const std::string components = std::to_string(buffer.components);
  buffer.count = combine(Op::multiply, {buffer.count, Expression::constant(buffer.components)},
                         components + " * (" + buffer.count.text() + ')');
}

void find_texts(KernelDraft& draft, Validation validation) {
  include_beside_sources(draft.spec);
  const std::string program = program_text(draft.spec);
  draft.code = code_of(program);
  if (validation == Validation::already_done) return;
  draft.spec.program.includes = includes_of(draft.spec, program);
  if (!draft.spec.has_reference_sources()) return;
  const std::string reference = program_text(draft.spec, ProgramPart::reference);
  draft.reference_code = code_of(reference);
  draft.spec.program.reference_includes = includes_of(draft.spec, reference);
}

void take_texts(KernelDraft& draft, KernelDraft from) {
  draft.spec.program.include_paths = std::move(from.spec.program.include_paths);
  draft.spec.program.includes = std::move(from.spec.program.includes);
  draft.spec.program.reference_includes = std::move(from.spec.program.reference_includes);
  draft.code = std::move(from.code);
  draft.reference_code = std::move(from.reference_code);
  draft.expanded = std::move(from.expanded);
}

ExpandedCode expanded_program(const ProgramSpec& program, const std::string& text, const KnownMacros& known) {
  return expanded_code(text, program.file, program.includes.get(), program.include_paths, known);
}

const ExpandedCode& expanded(KernelDraft& draft) {
  const KernelSpec& spec = draft.spec;
  if (!draft.expanded)
    draft.expanded = expanded_program(spec.program, program_text(spec),
                                      {names_of(spec.program.macros), names_of(draft.parameters, spec.choices)});
  return *draft.expanded;
}

const ScopedCode& unchanged(KernelDraft& draft) {
  if (draft.unchanged) return *draft.unchanged;
  const ProgramSpec& program = draft.spec.program;
  KnownMacros known{names_of(program.macros), {}, names_of(draft.parameters, draft.spec.choices)};
  std::erase_if(known.defined, [&](const std::string& name) { return contains(known.own, name); });
  draft.unchanged = expanded_program(program, whole_text(draft.spec, ProgramPart::kernel), known).code;
  return *draft.unchanged;
}

Substitutions constants_of(KernelDraft& draft) {
  Substitutions constants;
  const auto is_value = [&](const std::string& name) {
    return std::ranges::any_of(draft.values,
                               [&](const ValuesDraft& one) { return contains(texts_of(one.values), name); });
  };
  for (const Expression& expression : draft.expressions)
    for (const std::string& name : expression.names()) {
      if (draft.names.contains(name) || constants.contains(name) || name == "i" || !name_problem(name).empty() ||
          find_named(draft.spec.program.macros, name) || !may_occur(draft.spec, ProgramPart::kernel, name) ||
          is_value(name))
        continue;
      if (const auto value = constant_called(expanded(draft).code, name))
        constants.emplace(name, Expression::constant(*value));
    }
  return constants;
}

namespace {

/// A whole number in a `verify` line may be that of a size or of a scalar.
void find_scalars(KernelSpec& spec) {
  for (VerifySpec& problem : spec.verification.problems)
    for (auto at = problem.sizes.begin(); at != problem.sizes.end();) {
      const auto next = std::next(at);
      if (spec.find_scalar(at->first) != nullptr || at->first.find('.') != std::string::npos) {
        problem.scalars[at->first] = static_cast<double>(at->second);
        problem.sizes.erase(at);
      }
      at = next;
    }
}

}  // namespace

KernelSpec finish(KernelDraft draft, Validation validation) {
  find_addresses(draft.spec);
  find_scalars(draft.spec);
  draft.spec.alignment = std::max(draft.spec.alignment, draft.least_alignment);
  fill_in_from_text(draft);
  complete_default(draft);
  complete_seeds(draft);
  draft.spec.space = SearchSpace(std::move(draft.parameters), std::move(draft.constraints));
  const ChoiceSpec* const type = draft.spec.type_choice();
  const std::string first_type = type == nullptr ? "" : type->name;
  for (BufferSpec& buffer : draft.spec.buffers)
    if (buffer.type.empty()) buffer.type = first_type;
  for (ScalarSpec& scalar : draft.spec.scalars)
    if (scalar.type.empty()) scalar.type = first_type;
  for (const FillDraft& pending : draft.fills) apply(draft, pending);
  for (const auto& pending : draft.answers)
    named_output(draft, pending.buffer, pending.location).answer = pending.value;
  for (const FillDraft& pending : draft.fills) require_one_source(draft, pending);
  for (BufferSpec& buffer : draft.spec.buffers)
    if (buffer.record) settle_record(buffer);
  for (const auto& pending : draft.compared)
    named_output(draft, pending.buffer, pending.location).compared = pending.value;
  for (const bool of_kernel : {true, false})  // the others may need the kernel's
    for (const LaunchDraft& one : draft.launches)
      if ((one.role == LaunchDraft::Role::kernel) == of_kernel) add_launch(draft.spec, one);
  if (validation == Validation::required) validate(draft);
  return std::move(draft.spec);
}

}  // namespace tuner
