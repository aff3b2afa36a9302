#include <tuner/core/kernel_draft.hpp>

#include <algorithm>

#include <tuner/core/template_arguments.hpp>

namespace tuner {
namespace {

/// A `let` stands for text only in what follows it, and only in expressions.
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
                                              std::to_string(draft.places.at(name).line));
      }
    }
  }
  for (const auto& [text, place] : draft.cpp_texts) {
    for (const std::string_view word : words_of(text)) {
      if (!draft.lets.count(word)) continue;
      throw SpecError(place, in_quotes(word) +
                                 " is a 'let' and is not replaced in C++ text; write its parameters and sizes instead");
    }
  }
}

/// A wrong number of template arguments is clearer in a sentence than in what compilers say of it.
void require_template_arguments(const KernelDraft& draft) {
  for (const auto& [text, place] : draft.cpp_texts) {
    const std::string problem = template_argument_problem(draft.spec.source, text);
    if (!problem.empty()) throw SpecError(place, problem);
  }
}

void apply(KernelDraft& draft, const FillDraft& pending) {
  const auto at = std::find_if(draft.spec.buffers.begin(), draft.spec.buffers.end(),
                               [&](const BufferSpec& buffer) { return buffer.name == pending.buffer; });
  if (at == draft.spec.buffers.end()) {
    std::vector<std::string> names;
    for (const BufferSpec& buffer : draft.spec.buffers) names.push_back(buffer.name);
    throw SpecError(pending.location,
                    "unknown buffer " + in_quotes(pending.buffer) + suggestion(pending.buffer, names));
  }
  if (at->role != BufferRole::in && at->role != BufferRole::inout && at->role != BufferRole::consumed) {
    throw SpecError(pending.location,
                    in_quotes(pending.buffer) + " is no input: only 'in', 'inout' and 'consumed' buffers are filled");
  }
  at->fill = pending.fill;
}

void record_arguments(KernelDraft& draft, const LaunchDraft& finished, const std::string& key) {
  for (std::size_t i = 0; i < finished.argument_places.size(); ++i) {
    draft.places.emplace(key + " " + finished.launch.arguments[i], finished.argument_places[i]);
  }
}

void finish_launch(KernelDraft& draft, const LaunchDraft& finished) {
  for (const char* const needed : {"instantiate", "grid", "block", "arguments"}) {
    if (finished.given.count(needed)) continue;
    throw SpecError(finished.launch.location,
                    "launch " + in_quotes(finished.launch.name) + " has no " + in_quotes(needed));
  }
  record_arguments(draft, finished, "argument " + std::to_string(draft.spec.launches.size()));
  draft.spec.launches.push_back(finished.launch);
}

/// What is left out: 256 threads a block, one thread for each element of the first output, the first launch's
/// arguments.
void finish_reference(KernelDraft& draft, const LaunchDraft& finished) {
  record_arguments(draft, finished, "reference argument " + std::to_string(draft.spec.reference.size()));
  LaunchSpec launch = finished.launch;
  const bool has_grid = finished.given.count("grid") != 0;
  if (has_grid != (finished.given.count("block") != 0)) {
    throw SpecError(launch.location, "the reference has a " + in_quotes(has_grid ? "grid" : "block") + " but no " +
                                         in_quotes(has_grid ? "block" : "grid"));
  }
  const auto output = std::find_if(draft.spec.buffers.begin(), draft.spec.buffers.end(), [](const BufferSpec& buffer) {
    return buffer.role == BufferRole::out || buffer.role == BufferRole::inout;
  });
  if (!has_grid && output != draft.spec.buffers.end()) {
    const std::string text = "max(1, ceil_div(" + output->count.text() + ", 256))";
    const Expression blocks = combine(Op::ceil_div, {output->count, Expression::constant(256)}, text);
    launch.grid[0] = combine(Op::maximum, {blocks, Expression::constant(1)}, text);
    launch.block[0] = Expression::constant(256);
  }
  if (launch.arguments.empty() && !draft.spec.launches.empty())
    launch.arguments = draft.spec.launches.front().arguments;
  draft.spec.reference.push_back(std::move(launch));
}

}  // namespace

KernelSpec finish(KernelDraft draft) {
  require_lets_before_use(draft);
  require_template_arguments(draft);
  draft.spec.space = SearchSpace(std::move(draft.parameters), std::move(draft.constraints));
  const auto type = std::find_if(draft.spec.choices.begin(), draft.spec.choices.end(),
                                 [](const ChoiceSpec& choice) { return choice.is_type; });
  const std::string first_type = type == draft.spec.choices.end() ? "" : type->name;
  for (BufferSpec& buffer : draft.spec.buffers) {
    if (buffer.type.empty()) buffer.type = first_type;
  }
  for (ScalarSpec& scalar : draft.spec.scalars) {
    if (scalar.type.empty()) scalar.type = first_type;
  }
  for (const FillDraft& pending : draft.fills) apply(draft, pending);
  for (const LaunchDraft& finished : draft.launches) {
    if (!finished.is_reference) finish_launch(draft, finished);
  }
  for (const LaunchDraft& finished : draft.launches) {
    if (finished.is_reference) finish_reference(draft, finished);
  }
  validate(draft.spec, draft.places);
  const KnownNames known = known_names(draft.spec, Parameters::allowed);
  for (const auto& [name, expression] : draft.lets) check_names(expression, known);
  return std::move(draft.spec);
}

}  // namespace tuner
