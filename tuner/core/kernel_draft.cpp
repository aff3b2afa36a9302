#include <tuner/core/kernel_draft.hpp>

#include <algorithm>
#include <filesystem>

#include <tuner/core/left_out.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/record_type.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/template_arguments.hpp>
#include <tuner/core/validation.hpp>

namespace tuner {
namespace {

/// A `let` replaces its name only in the lines after it.
void require_lets_before_use(const KernelDraft& draft) {
  for (const Expression& user : draft.expressions) {
    for (const std::string& name : user.names()) {
      if (!draft.lets.count(name)) continue;
      std::vector<std::string> others = user.names();
      std::erase(others, name);
      try {
        user.require_known(others);
      } catch (const SpecError& error) {
        throw SpecError(error.location(), in_quotes(name) + " is used before the 'let' that defines it, in line " +
                                              std::to_string(draft.names.at(name).place.line));
      }
    }
  }
  for (const LaunchDraft& draft_launch : draft.launches) {
    const LaunchSpec& launch = draft_launch.launch;
    for (const std::string_view word : words_of(launch.instantiate)) {
      const auto is_it = [&](const ComputedText& text) { return text.text == word; };
      if (!draft.lets.count(word) || std::any_of(launch.computed_texts.begin(), launch.computed_texts.end(), is_it))
        continue;
      throw SpecError(launch.location, in_quotes(word) + " is used before the 'let' that defines it, in line " +
                                           std::to_string(draft.names.find(word)->second.place.line));
    }
  }
}

/// Reports a wrong number of template arguments, more clearly than compilers do.
void require_template_arguments(const KernelDraft& draft) {
  const std::string kernel = code_of(program_text(draft.spec)),
                    reference = code_of(program_text(draft.spec, ProgramPart::reference));
  for (const LaunchDraft& one : draft.launches) {
    const std::string problem = template_argument_problem(one.role == LaunchDraft::Role::reference ? reference : kernel,
                                                          one.launch.instantiate);
    if (!problem.empty()) throw SpecError(one.instantiate_place, problem);
  }
}

/// Files that a source includes are looked for beside it, also when its text is compiled as part of another file.
void include_beside_sources(KernelSpec& spec) {
  std::vector<std::string> paths;
  const auto add = [&](std::string path) {
    if (path.empty()) path = ".";
    if (!contains(paths, path)) paths.push_back(std::move(path));
  };
  for (const SourceFile& file : spec.sources) add(std::filesystem::path(file.path).parent_path().string());
  for (const std::string& path : spec.include_paths) add(path);
  spec.include_paths = std::move(paths);
}

/// Null if there are none.
std::shared_ptr<const Includes> includes_of(const KernelSpec& spec, ProgramPart part) {
  Includes includes = included_files(program_text(spec, part), spec.file, spec.include_paths);
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
    throw SpecError(place, in_quotes(name) + " is no output: only 'out' and 'inout' buffers are compared");
  return buffer;
}

void fill_field(BufferSpec& buffer, const FillDraft& pending) {
  if (!buffer.record)
    throw SpecError(pending.location, in_quotes(buffer.name) + " has no fields: its elements are not structs");
  RecordField* const field = find_named(buffer.record->fields, pending.field);
  if (field == nullptr)
    throw SpecError(pending.location, in_quotes(buffer.name) + " has no field " + in_quotes(pending.field) +
                                          suggestion(pending.field, names_of(buffer.record->fields)));
  field->fill = {pending.computed ? std::nullopt : std::optional(pending.fill), pending.computed};
  if (field->is_bool && !fits_bool(field->fill))
    throw SpecError(pending.location, in_quotes(filled_name(pending)) +
                                          " is a bool: fill it with 'constant 0', 'constant 1' or 'uniform 0 2'");
}

void apply(KernelDraft& draft, const FillDraft& pending) {
  BufferSpec& buffer = named_buffer(draft, pending.buffer, pending.location);
  if (!buffer.is_input())
    throw SpecError(
        pending.location,
        in_quotes(pending.buffer) + " is no input: only 'in', 'constant', 'inout' and 'consumed' buffers are filled");
  if (!pending.field.empty()) return fill_field(buffer, pending);
  if (pending.computed) {
    buffer.computed_fill = pending.computed;
  } else {
    buffer.fill = pending.fill;
  }
}

/// A file fills whole records: their fields cannot have other fills.
void require_one_source(KernelDraft& draft, const FillDraft& pending) {
  const BufferSpec& buffer = named_buffer(draft, pending.buffer, pending.location);
  if (!pending.field.empty() && buffer.computed_fill && !buffer.computed_fill->path.empty())
    throw SpecError(pending.location, "all fields of " + in_quotes(buffer.name) + " are filled from " +
                                          in_quotes(buffer.computed_fill->path) + ": remove one of the two fills");
}

void finish_launch(KernelDraft& draft, const LaunchDraft& finished) {
  for (const char* const needed : {"grid", "block"}) {  // fill_in_from_text() has found the others
    if (finished.given.count(needed)) continue;
    throw SpecError(finished.launch.location,
                    "launch " + in_quotes(finished.launch.name) + " has no " + in_quotes(needed));
  }
  draft.spec.launches.push_back(finished.launch);
}

/// Whether \p finished has both a grid and a block. Throws SpecError about \p subject if it has only one.
bool has_shape(const LaunchDraft& finished, const std::string& subject) {
  const bool has_grid = finished.given.count("grid") != 0;
  if (has_grid != (finished.given.count("block") != 0)) {
    throw SpecError(finished.launch.location, subject + " has a " + in_quotes(has_grid ? "grid" : "block") +
                                                  " but no " + in_quotes(has_grid ? "block" : "grid"));
  }
  return has_grid;
}

/// Blocks of 256 threads, one thread for each element of \p buffer.
void set_thread_each(LaunchSpec& launch, const BufferSpec& buffer) {
  const std::int64_t numbers = std::int64_t{256} * buffer.components;
  const std::string text = "max(1, ceil_div(" + buffer.count.text() + ", " + std::to_string(numbers) + "))";
  const Expression blocks = combine(Op::ceil_div, {buffer.count, Expression::constant(numbers)}, text);
  launch.grid[0] = combine(Op::maximum, {blocks, Expression::constant(1)}, text);
  launch.block[0] = Expression::constant(256);
}

/// A reference that leaves them out gets the arguments of the first launch, and one thread for each element of the
/// first output.
void finish_reference(KernelDraft& draft, const LaunchDraft& finished) {
  LaunchSpec launch = finished.launch;
  const bool has_grid = has_shape(finished, "the reference");
  const auto output = std::find_if(draft.spec.buffers.begin(), draft.spec.buffers.end(),
                                   [](const BufferSpec& buffer) { return buffer.is_output(); });
  if (!has_grid && output != draft.spec.buffers.end()) set_thread_each(launch, *output);
  if (launch.arguments.empty() && !draft.spec.launches.empty()) {
    launch.arguments = draft.spec.launches.front().arguments;
    launch.computed_arguments = draft.spec.launches.front().computed_arguments;
  }
  draft.spec.reference.push_back(std::move(launch));
}

/// A 'prepare' without a shape gets one thread for each element of the first buffer that it may change.
void finish_prepare(KernelDraft& draft, const LaunchDraft& finished) {
  LaunchSpec launch = finished.launch;
  if (!has_shape(finished, "'prepare " + launch.name + "'")) {
    for (const std::string& argument : launch.arguments) {
      const BufferSpec* const buffer = draft.spec.find_buffer(argument);
      if (buffer == nullptr || (buffer->role != BufferRole::inout && buffer->role != BufferRole::consumed)) continue;
      set_thread_each(launch, *buffer);
      break;
    }
  }
  draft.spec.prepare.push_back(std::move(launch));
}

}  // namespace

std::string filled_name(const FillDraft& fill) {
  return fill.field.empty() ? fill.buffer : fill.buffer + '.' + fill.field;
}

void count_in_numbers(BufferSpec& buffer) {
  if (buffer.components == 1) return;
  const std::string components = std::to_string(buffer.components);
  buffer.count = combine(Op::multiply, {buffer.count, Expression::constant(buffer.components)},
                         components + " * (" + buffer.count.text() + ')');
}

KernelSpec finish(KernelDraft draft, Judged judged) {
  include_beside_sources(draft.spec);
  if (judged == Judged::now) {
    draft.spec.includes = includes_of(draft.spec, ProgramPart::kernel);
    if (draft.spec.has_reference_sources())
      draft.spec.reference_includes = includes_of(draft.spec, ProgramPart::reference);
  }
  require_lets_before_use(draft);
  fill_in_from_text(draft);
  if (judged == Judged::now) require_template_arguments(draft);
  draft.spec.space = SearchSpace(std::move(draft.parameters), std::move(draft.constraints));
  const ChoiceSpec* const type = draft.spec.type_choice();
  const std::string first_type = type == nullptr ? "" : type->name;
  for (BufferSpec& buffer : draft.spec.buffers) {
    if (buffer.type.empty()) buffer.type = first_type;
  }
  for (ScalarSpec& scalar : draft.spec.scalars) {
    if (scalar.type.empty()) scalar.type = first_type;
  }
  for (const FillDraft& pending : draft.fills) apply(draft, pending);
  for (const AnswerDraft& pending : draft.answers)
    named_output(draft, pending.buffer, pending.location).answer = pending.file;
  for (const FillDraft& pending : draft.fills) require_one_source(draft, pending);
  for (BufferSpec& buffer : draft.spec.buffers)
    if (buffer.record) settle_record(buffer);
  for (const ComparedDraft& pending : draft.compared)
    named_output(draft, pending.buffer, pending.location).compared = pending.when;
  for (const LaunchDraft& finished : draft.launches) {
    if (finished.role == LaunchDraft::Role::kernel) finish_launch(draft, finished);
  }
  for (const LaunchDraft& finished : draft.launches) {
    if (finished.role == LaunchDraft::Role::reference) finish_reference(draft, finished);
    if (finished.role == LaunchDraft::Role::prepare) finish_prepare(draft, finished);
  }
  if (judged == Judged::now) validate(draft);
  return std::move(draft.spec);
}

}  // namespace tuner
