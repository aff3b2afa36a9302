#include <tuner/core/kernel/kernel_spec.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/kernel/kernel_program.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/space/enumerated_space.hpp>

namespace tuner {
namespace {

/// The allowed value that \p text names, aliases of types included.
std::string canonical_choice(const KernelSpec& spec, const ChoiceSpec& choice, const std::string& text) {
  const auto type = choice.is_type ? element_type(text) : std::nullopt;
  const std::string value = type ? std::string(info(*type).name) : text;
  if (contains(choice.values, value)) return value;
  throw Error(ErrorCode::invalid_argument, "kernel '" + spec.name + "': " + choice.name + "=" + text +
                                               " is not one of: " + listed(choice.values) +
                                               suggestion(text, choice.values));
}

/// \p text as the shortest number that \p type holds. Throws Error if it is none.
std::string canonical_number(ElementType type, const std::string& name, const std::string& text) {
  const char* const end = text.data() + text.size();
  const auto read = [&](auto number) {
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return stop == end && error == std::errc{} ? std::optional(number) : std::nullopt;
  };
  if (!info(type).is_floating) {
    if (text == "true" || text == "false") return text == "true" ? "1" : "0";
    if (const auto number = read(std::int64_t{})) return std::to_string(*number);
    if (const auto number = read(std::uint64_t{})) return std::to_string(*number);
  }
  const auto number = read(double{});
  if (!number || !(info(type).is_floating || std::isfinite(*number)))
    throw Error(ErrorCode::invalid_argument, name + "=" + text + " is not a number");
  if (!info(type).is_floating) return scalar_text(std::trunc(*number));
  return type == ElementType::float64 ? scalar_text(*number) : scalar_text(static_cast<float>(*number));
}

/// Requires that the scalars among the choices are part of a problem, and removes those with the value that the kernel
/// file gives.
void complete_scalars(const KernelSpec& spec, ProblemSize& size) {
  for (const ScalarSpec& scalar : spec.scalars) {
    const auto at = size.choices.find(scalar.name);
    if (at == size.choices.end()) continue;
    if (!is_part_of_problem(spec, scalar, size))
      throw Error(ErrorCode::invalid_argument, "kernel '" + spec.name + "': results are for every value of '" +
                                                   scalar.name + "', so it is not part of a problem");
    const ElementType type = resolved_type(spec, size, scalar.type);
    const ScalarValue& given = scalar.values.front();
    const double usual = given.computed ? given.computed->evaluate_number(bindings(spec, size, {})) : given.number;
    at->second = canonical_number(type, scalar.name, at->second);
    if (at->second == canonical_number(type, scalar.name, scalar_text(usual))) size.choices.erase(at);
  }
}

std::optional<std::string> count_problem(const BufferSpec& buffer, const Bindings& bindings) {
  try {
    const std::int64_t count = buffer.count.evaluate_integer(bindings);
    if (count < 0) return "buffer '" + buffer.name + "' would have " + std::to_string(count) + " elements";
  } catch (const EvaluationError& error) {
    return "buffer '" + buffer.name + "': " + error.what();
  }
  return std::nullopt;
}

LaunchShape shape_of(const LaunchSpec& launch, const Bindings& bindings) {
  LaunchShape shape;
  for (std::size_t i = 0; i < 3; ++i) {
    shape.grid[i] = launch.grid[i].evaluate_integer(bindings);
    shape.block[i] = launch.block[i].evaluate_integer(bindings);
  }
  shape.shared_bytes = launch.shared_bytes.evaluate_integer(bindings);
  shape.cooperative = launch.cooperative && launch.cooperative->evaluate_boolean(bindings);
  return shape;
}

/// Adds the device's limits for \p launch as predicates for the enumeration.
void add_limits(const KernelSpec& spec, const LaunchSpec& launch, const ProblemSize& size, const DeviceLimits& limits,
                std::vector<Conjunct>& conjuncts) {
  const auto require = [&](const Expression& predicate) {
    const Expression guarded =
        launch.when ? combine(Op::logical_or, {combine(Op::logical_not, {*launch.when}), predicate}) : predicate;
    conjuncts.push_back({guarded, true});
  };
  const auto within = [&](std::int64_t low, const Expression& value, std::int64_t high) {
    require(combine(Op::less_equal, {Expression::constant(low), value}));
    require(combine(Op::less_equal, {value, Expression::constant(high)}));
  };
  for (std::size_t i = 0; i < 3; ++i) {
    within(1, launch.block[i], limits.max_block[i]);
    within(1, launch.grid[i], limits.max_grid[i]);
  }
  const auto volume = [&](const std::array<Expression, 3>& extents) {
    return combine(Op::multiply, {combine(Op::multiply, {extents[0], extents[1]}), extents[2]});
  };
  const Expression threads = volume(launch.block);
  within(1, threads, limits.max_threads_per_block);
  within(0, launch.shared_bytes, limits.max_shared_bytes);
  for (const ComputedArgument& argument : launch.computed_arguments) {
    const auto range = integer_range(resolved_type(spec, size, argument.type));
    const TuningParameter* const named =
        is_name(argument.value) ? spec.space.find(argument.value.names().front()) : nullptr;
    const bool is_word = named != nullptr && named->values.front().is_string();
    if (range && !is_word) within(range->low, argument.value, range->high);
  }
  if (!launch.cooperative) return;
  const auto number = [](std::int64_t value) { return Expression::constant(value); };
  const Expression warps = combine(Op::ceil_div, {threads, number(limits.warp_size)});
  const Expression of_sm =
      combine(Op::minimum, {combine(Op::divide, {number(limits.max_threads_per_sm / limits.warp_size), warps}),
                            number(limits.max_blocks_per_sm)});
  const Expression resident = combine(Op::multiply, {of_sm, number(limits.cooperative_launch ? limits.sm_count : 0)});
  require(combine(Op::logical_or, {combine(Op::logical_not, {*launch.cooperative}),
                                   combine(Op::less_equal, {volume(launch.grid), resident})}));
}

/// The condition on which \p launch is made and timed; nothing if it always is.
std::optional<Expression> timed_where(const LaunchSpec& launch) {
  if (!launch.untimed) return launch.when;
  const Expression timed = combine(Op::logical_not, {*launch.untimed});
  return launch.when ? combine(Op::logical_and, {*launch.when, timed}) : timed;
}

/// The condition on which there is something to time; nothing if there always is.
std::optional<Expression> any_timed_launch(const KernelSpec& spec) {
  std::optional<Expression> result;
  for (const LaunchSpec& launch : spec.launches) {
    const std::optional<Expression> timed = timed_where(launch);
    if (!timed) return std::nullopt;
    result = result ? combine(Op::logical_or, {*result, *timed}) : *timed;
  }
  return result;
}

std::optional<std::string> argument_problem(const ComputedArgument& argument, ElementType type, const Bindings& all) {
  const auto range = integer_range(type);
  if (!range) return std::nullopt;
  const std::int64_t value = argument.value.evaluate_integer(all);
  if (value >= range->low && value <= range->high) return std::nullopt;
  return "argument '" + argument.name + "': " + std::to_string(value) + " does not fit its type " +
         std::string(info(type).name);
}

/// \p launch's C++ name with every name and every computed part replaced by its value.
std::string resolved_name(const LaunchSpec& launch, const Bindings& bindings, const Replacements& values) {
  Replacements all = values;
  for (const ComputedText& computed : launch.computed_texts)
    if (!computed.text.starts_with('{')) all[computed.text] = cpp_text(computed.value.evaluate(bindings));
  std::string text;
  std::size_t end = 0;
  const std::string_view whole = launch.instantiate;
  for (const ComputedText& computed : launch.computed_texts) {
    if (!computed.text.starts_with('{')) continue;
    text += substitute_words(whole.substr(end, computed.at - end), all) + cpp_text(computed.value.evaluate(bindings));
    end = computed.at + computed.text.size();
  }
  return text + substitute_words(whole.substr(end), all);
}

/// Whether the condition of \p launch is true. If \p launch cannot be made then, \p problem is set. Its text begins
/// with \p place.
bool is_made(const KernelSpec& spec, const LaunchSpec& launch, const std::string& place, const ProblemSize& size,
             const DeviceLimits& limits, const Bindings& all, std::optional<std::string>& problem) {
  try {
    if (launch.when && !launch.when->evaluate_boolean(all)) return false;
    if (launch.untimed) launch.untimed->evaluate_boolean(all);
    problem = violated_limit(shape_of(launch, all), limits);
    if (!problem) resolved_name(launch, all, {});
    for (const ComputedArgument& argument : launch.computed_arguments)
      if (!problem) problem = argument_problem(argument, resolved_type(spec, size, argument.type), all);
  } catch (const EvaluationError& error) {
    problem = error.what();
  }
  if (problem) problem->insert(0, place);
  return true;
}

/// The constraint on sizes alone that \p size does not meet, with its sizes; nothing if it meets all.
std::optional<std::string> unmet_constraint(const KernelSpec& spec, const ProblemSize& size, const Bindings& bindings) {
  for (const Constraint& constraint : spec.space.constraints()) {
    const std::vector<std::string>& names = constraint.predicate.names();
    const auto is_tuned = [&](const std::string& name) { return spec.space.find(name) != nullptr; };
    const auto is_size = [&](const std::string& name) { return spec.find_size(name) != nullptr; };
    if (std::ranges::any_of(names, is_tuned) || std::ranges::none_of(names, is_size)) continue;
    try {
      if (constraint.predicate.evaluate_boolean(bindings)) continue;
    } catch (const EvaluationError&) {  // need not have a value if another constraint is not met
      continue;
    }
    std::string reason = constraint.name + ": " + constraint.predicate.text();
    const char* separator = " with ";
    for (const std::string& name : names) {
      if (!is_size(name)) continue;
      reason += separator + name + '=' + std::to_string(size.sizes.at(name));
      separator = " ";
    }
    return reason;
  }
  return std::nullopt;
}

/// Why no configuration may run for this problem.
std::optional<std::string> problem_of_size(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                           const Bindings& bindings) {
  for (const SizeSpec& wanted : spec.sizes) {
    const auto at = size.sizes.find(wanted.name);
    if (at == size.sizes.end()) return "size '" + wanted.name + "' is not given";
    if (at->second < 0 || at->second > integer_range(wanted.type)->high) {
      return wanted.name + "=" + std::to_string(at->second) + " does not fit its type " +
             std::string(info(wanted.type).name);
    }
  }
  for (const BufferSpec& buffer : spec.buffers) {
    if (buffer.is_work_space()) continue;
    if (auto problem = count_problem(buffer, bindings)) return problem;
  }
  if (auto unmet = unmet_constraint(spec, size, bindings)) return unmet;
  std::optional<std::string> problem;
  for (const LaunchSpec& prepare : spec.prepare)
    if (!problem) is_made(spec, prepare, "prepare '" + prepare.name + "': ", size, limits, bindings, problem);
  return problem;
}

std::vector<ResolvedLaunch> resolve(const std::vector<LaunchSpec>& launches, const Bindings& bindings,
                                    const Replacements& values) {
  std::vector<ResolvedLaunch> result;
  for (const LaunchSpec& launch : launches) {
    if (launch.when && !launch.when->evaluate_boolean(bindings)) continue;
    const bool timed = !launch.untimed || !launch.untimed->evaluate_boolean(bindings);
    result.push_back({&launch, resolved_name(launch, bindings, values), shape_of(launch, bindings), timed});
  }
  return result;
}

}  // namespace

std::string_view text(ReferenceKind kind) {
  constexpr std::string_view texts[] = {"", "kernel", "default configuration", "answer in a file"};
  return texts[static_cast<std::size_t>(kind)];
}

ReferenceKind KernelSpec::reference_kind() const {
  if (!verification.reference.empty()) return ReferenceKind::kernel;
  if (verification.default_is_reference) return ReferenceKind::default_configuration;
  const bool has_answer =
      std::ranges::any_of(buffers, [](const BufferSpec& buffer) { return buffer.answer.has_value(); });
  return has_answer ? ReferenceKind::file : ReferenceKind::none;
}

const ChoiceSpec* KernelSpec::type_choice() const {
  const auto type = std::ranges::find_if(choices, &ChoiceSpec::is_type);
  return type == choices.end() ? nullptr : &*type;
}

std::string about_its_line(const BufferSpec& buffer) {
  if (buffer.typed_neighbour.empty()) return {};
  return " (a type after ':' is that of one buffer, here of '" + buffer.typed_neighbour + "' alone)";
}

bool RecordType::has_pointers() const {
  return std::ranges::any_of(fields, [](const RecordField& field) { return !field.pointer.empty(); });
}

std::vector<std::string> KernelSpec::taken_by(const LaunchSpec& launch) const {
  std::vector<std::string> names = launch.arguments;
  for (const std::string& argument : launch.arguments) {
    const ScalarSpec* const scalar = find_scalar(argument);
    if (scalar == nullptr) continue;
    for (const ScalarValue& value : scalar->values)
      if (!value.address.empty() && value.address != kNullPointer) names.push_back(value.address);
  }
  return names;
}

ProblemSize complete(const KernelSpec& spec, ProblemSize size) {
  const std::vector<std::string> names = names_of(spec.choices, spec.sizes);
  for (auto& [name, value] : size.choices) {
    const ChoiceSpec* choice = spec.find_choice(name);
    if (!choice && spec.find_scalar(name)) continue;  // until the types and sizes are known
    if (!choice)
      throw Error(ErrorCode::invalid_argument,
                  "kernel '" + spec.name + "' has no choice '" + name + "'" + suggestion(name, names) +
                      (spec.choices.empty() ? "" : "; its choices: " + listed(names_of(spec.choices))));
    value = canonical_choice(spec, *choice, value);
  }
  for (const auto& [name, value] : size.sizes) {
    if (!spec.find_size(name))
      throw Error(ErrorCode::invalid_argument,
                  "kernel '" + spec.name + "' has no size '" + name + "'" + suggestion(name, names));
    if (value < 0)
      throw Error(ErrorCode::invalid_argument, "size " + name + "=" + std::to_string(value) + " is negative");
  }
  for (const ChoiceSpec& choice : spec.choices) size.choices.try_emplace(choice.name, choice.values.front());
  for (const SizeSpec& wanted : spec.sizes) {
    if (size.sizes.count(wanted.name)) continue;
    if (!wanted.default_value) {
      throw Error(ErrorCode::invalid_argument, "size '" + wanted.name + "' of kernel '" + spec.name +
                                                   "' has no default; give it, as in " + wanted.name + "=1000");
    }
    size.sizes[wanted.name] = *wanted.default_value;
  }
  complete_scalars(spec, size);
  return size;
}

Bindings bindings(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  Bindings result;
  bind_device_limits(result, limits);
  for (const auto& [name, value] : size.sizes) result.set(name, value);
  for (const ChoiceSpec& choice : spec.choices) {
    const auto at = size.choices.find(choice.name);
    const std::string& value = at == size.choices.end() ? choice.values.front() : at->second;
    result.set(choice.name, choice.is_type ? Value(value) : Value::parse(value));
  }
  for (const DerivedTypeSpec& type : spec.derived_types) {
    result.set(type.name, Value(std::string(info(resolved_type(spec, size, type.name)).name)));
  }
  return result;
}

Bindings bindings(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                  const Configuration& configuration) {
  Bindings result = bindings(spec, size, limits);
  for (const auto& [name, value] : configuration.entries()) result.set(name, value);
  return result;
}

EnumeratedSpace enumerate(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                          const StopHook& stop, std::size_t at_most) {
  const Bindings fixed = bindings(spec, size, limits);
  if (why_never(spec, limits) || problem_of_size(spec, size, limits, fixed))
    return EnumeratedSpace::from_codes(spec.space.parameters(), {});
  std::vector<Conjunct> conjuncts;
  for (const Constraint& constraint : spec.space.constraints()) conjuncts.push_back({constraint.predicate, false});
  for (const LaunchSpec& launch : spec.launches) add_limits(spec, launch, size, limits, conjuncts);
  for (const BufferSpec& buffer : spec.buffers) {
    if (!buffer.is_work_space()) continue;
    conjuncts.push_back({combine(Op::greater_equal, {buffer.count, Expression::constant(0)}), true});
  }
  if (spec.device_launches) {
    conjuncts.push_back({combine(Op::greater_equal, {*spec.device_launches, Expression::constant(0)}), true});
  }
  add_compile_values(spec, conjuncts);
  if (const auto any = any_timed_launch(spec)) conjuncts.push_back({*any, true});
  if (at_most == ~std::size_t{0}) return listed_or_drawn(spec.space.parameters(), conjuncts, fixed, stop);
  return enumerate_conjuncts(spec.space.parameters(), conjuncts, fixed, stop, at_most);
}

std::optional<std::string> why_never(const KernelSpec& spec, const DeviceLimits& limits) {
  const bool on_the_host = limits.compute_capability == 0;
  if (!spec.device_launches || !on_the_host) return std::nullopt;
  return "launches kernels from the device; the host backend cannot";
}

std::optional<std::string> why_impossible(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  return problem_of_size(spec, size, limits, bindings(spec, size, limits));
}

std::optional<std::string> why_invalid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                       const Configuration& configuration) {
  if (const auto never = why_never(spec, limits)) return "the kernel " + *never;
  const Bindings fixed = bindings(spec, size, limits);
  if (auto problem = problem_of_size(spec, size, limits, fixed)) return problem;
  const Bindings all = bindings(spec, size, limits, configuration);
  try {
    if (auto violation = spec.space.violation(configuration, fixed)) return violation;
  } catch (const EvaluationError& error) {
    return error.what();
  }
  bool launched = false;
  std::optional<std::string> problem;
  for (const LaunchSpec& launch : spec.launches) {
    const std::string place = spec.launches.size() > 1 ? "launch '" + launch.name + "': " : "";
    launched = is_made(spec, launch, place, size, limits, all, problem) || launched;
    if (problem) return problem;
  }
  if (!launched) return "nothing is launched: the conditions of all launches are false";
  for (const BufferSpec& buffer : spec.buffers)
    if ((problem = count_problem(buffer, all))) return problem;
  try {
    pending_device_launches(spec, size, limits, configuration);
    compile_options(spec, size, limits, configuration);
    macros(spec, size, limits, configuration);
  } catch (const EvaluationError& error) {
    return error.what();
  }
  return std::nullopt;
}

std::vector<ResolvedLaunch> resolve_launches(const KernelSpec& spec, const ProblemSize& size,
                                             const DeviceLimits& limits, const Configuration& configuration) {
  return resolve(spec.launches, bindings(spec, size, limits, configuration), replacements(spec, size, configuration));
}

std::vector<ResolvedLaunch> resolve_prepare(const KernelSpec& spec, const ProblemSize& size,
                                            const DeviceLimits& limits) {
  return resolve(spec.prepare, bindings(spec, size, limits), replacements(spec, size, {}));
}

std::string_view reference_name(const KernelSpec& spec) {
  return spec.reference_kind() == ReferenceKind::default_configuration
             ? "the default configuration, which is the reference,"
             : "the reference";
}

std::string weaker_reference(const KernelSpec& spec) {
  const ReferenceKind kind = spec.reference_kind();
  return kind == ReferenceKind::kernel ? std::string() : std::string(text(kind));
}

Configuration reference_configuration(const KernelSpec& spec) {
  return spec.reference_kind() == ReferenceKind::default_configuration ? spec.default_configuration.value()
                                                                       : Configuration{};
}

std::vector<ResolvedLaunch> resolve_reference(const KernelSpec& spec, const ProblemSize& size,
                                              const DeviceLimits& limits) {
  if (spec.reference_kind() == ReferenceKind::default_configuration) {
    const Configuration configuration = reference_configuration(spec);
    KernelSpec alone = spec;  // the space of `spec` may be a part without the default configuration
    std::vector<TuningParameter> parameters = spec.space.parameters();
    for (TuningParameter& parameter : parameters) parameter.values = {*configuration.find(parameter.name)};
    alone.space = SearchSpace(std::move(parameters), spec.space.constraints());
    if (const auto reason = why_invalid(alone, size, limits, configuration))
      throw Error(ErrorCode::invalid_argument, spec.program.file + ": " + std::string(reference_name(spec)) +
                                                   " cannot run for " + size.text() + ": " + *reason);
    return resolve_launches(spec, size, limits, configuration);
  }
  return resolve(spec.verification.reference, bindings(spec, size, limits), replacements(spec, size, {}));
}

std::int64_t pending_device_launches(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                     const Configuration& configuration) {
  if (!spec.device_launches) return 0;
  const Expression& pending = *spec.device_launches;
  const std::int64_t count = pending.evaluate_integer(bindings(spec, size, limits, configuration));
  if (count < 0)
    throw EvaluationError(pending.location(), in_quotes(pending.text()) + " is negative: " + std::to_string(count));
  return count;
}

std::int64_t evaluate_amount(const KernelSpec& spec, const Expression& amount, const ProblemSize& size,
                             const DeviceLimits& limits) {
  const std::int64_t value = amount.evaluate_integer(bindings(spec, size, limits));
  if (value < 0)
    throw EvaluationError(amount.location(),
                          in_quotes(amount.text()) + " is negative: " + std::to_string(value) + " for " + size.text());
  return value;
}

ElementType resolved_type(const KernelSpec& spec, const ProblemSize& size, std::string_view type) {
  if (const auto element = element_type(type)) return *element;
  if (const DerivedTypeSpec* derived = find_named(spec.derived_types, type)) {
    const ElementType of = resolved_type(spec, size, derived->of);
    const auto at = derived->mapping.find(std::string(info(of).name));
    return at == derived->mapping.end() ? of : resolved_type(spec, size, at->second);
  }
  const ChoiceSpec* choice = spec.find_choice(type);
  if (!choice || !choice->is_type)
    throw Error(ErrorCode::invalid_argument, "'" + std::string(type) + "' is not a type of kernel '" + spec.name + "'");
  const auto at = size.choices.find(choice->name);
  const std::string& name = at == size.choices.end() ? choice->values.front() : at->second;
  if (const auto element = element_type(name)) return *element;
  throw Error(ErrorCode::invalid_argument, choice->name + "=" + name + " is not an element type");
}

Tolerance tolerance_for(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits, ElementType type) {
  if (!info(type).is_floating) return {};
  if (spec.verification.tolerance) return *spec.verification.tolerance;
  const std::int64_t terms =
      spec.verification.accumulates ? evaluate_amount(spec, *spec.verification.accumulates, size, limits) : 1;
  return {info(type).epsilon * (16 + std::sqrt(static_cast<double>(terms))), 0};
}

std::filesystem::path beside(const KernelSpec& spec, const std::string& path) {
  return std::filesystem::path(spec.program.file).parent_path() / path;
}

std::vector<std::string> fill_files(const KernelSpec& spec) {
  std::vector<std::string> paths;
  const auto add = [&](const std::optional<FillSpec>& fill) {
    if (fill && !fill->path.empty()) paths.push_back(fill->path);
  };
  for (const BufferSpec& buffer : spec.buffers) {
    add(buffer.fill);
    if (!buffer.record) continue;
    for (const RecordField& field : buffer.record->fields) add(field.fill);
  }
  return paths;
}

std::vector<std::filesystem::path> data_files(const KernelSpec& spec) {
  std::vector<std::filesystem::path> files;
  const auto add = [&](const std::string& path) {
    std::filesystem::path file = beside(spec, path);
    if (!contains(files, file)) files.push_back(std::move(file));
  };
  for (const std::string& path : fill_files(spec)) add(path);
  for (const BufferSpec& buffer : spec.buffers)
    if (buffer.answer) add(buffer.answer->path);
  return files;
}

const std::string* unknown_headers(const KernelSpec& spec) {
  for (const auto& includes : {&spec.program.includes, &spec.program.reference_includes})
    if (*includes && (*includes)->unknown) return &*(*includes)->unknown;
  return nullptr;
}

}  // namespace tuner
