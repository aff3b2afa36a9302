#include <tuner/core/kernel/validity.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/compile_values.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>
#include <tuner/core/kernel/tensor_maps.hpp>
#include <tuner/core/space/enumerated_space.hpp>

namespace tuner {
namespace {

constexpr int kFirstWithTensorMaps = 90;

std::optional<std::string> count_problem(const BufferSpec& buffer, const Bindings& bindings) {
  try {
    const std::int64_t count = buffer.count.evaluate_integer(bindings);
    if (count < 0) return "buffer '" + buffer.name + "' would have " + std::to_string(count) + " elements";
  } catch (const EvaluationError& error) {
    return "buffer '" + buffer.name + "': " + error.what();
  }
  return std::nullopt;
}

/// \p predicate, which is required only if \p when is true or null.
Expression guarded(const Expression* when, const Expression& predicate) {
  return when ? combine(Op::logical_or, {combine(Op::logical_not, {*when}), predicate}) : predicate;
}

/// Adds predicates for the enumeration: everything that the program is made from can be evaluated.
void add_code(const KernelSpec& spec, std::vector<Conjunct>& conjuncts) {
  for_each_expression(spec, [&](const Expression& expression, const ExpressionUse& use) {
    if (use.role != ExpressionRole::code || use.only_tuning || is_name(expression)) return;
    conjuncts.push_back({guarded(use.when, combine(Op::equal, {expression, expression})), true});
  });
}

/// Adds the device's limits for \p launch as predicates for the enumeration.
void add_limits(const KernelSpec& spec, const LaunchSpec& launch, const ProblemSize& size, const DeviceLimits& limits,
                std::vector<Conjunct>& conjuncts) {
  const auto require = [&](const Expression& predicate) {
    conjuncts.push_back({guarded(launch.when ? &*launch.when : nullptr, predicate), true});
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
  const auto number = [](std::int64_t value) { return Expression::constant(value); };
  const bool is_new = limits.compute_capability == 0 || limits.compute_capability >= 90;
  if (launch.cluster) {
    const std::array<Expression, 3>& cluster = *launch.cluster;
    for (std::size_t i = 0; i < 3; ++i) {
      within(1, cluster[i], kMaxCluster);
      require(combine(Op::equal, {combine(Op::modulo, {launch.grid[i], cluster[i]}), number(0)}));
    }
    within(1, volume(cluster), is_new ? kMaxCluster : 1);
  }
  if (launch.dependent) {
    const Expression ordinary = combine(Op::logical_not, {*launch.dependent});
    require(is_new ? combine(Op::logical_or, {*launch.dependent, ordinary}) : ordinary);  // it must have a value
  }
  if (launch.carveout) within(LaunchShape::kNoCarveout, *launch.carveout, 100);
  if (!launch.cooperative) return;
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

/// The first rule that a tensor map breaks. \p of_size: looks only at rules without parameters.
std::optional<std::string> broken_rule(const KernelSpec& spec, const ProblemSize& size, const Bindings& bindings,
                                       bool of_size) {
  for (const TensorMapRule& rule : tensor_map_rules(spec, size)) {
    const auto is_tuned = [&](const std::string& name) { return spec.space.find(name) != nullptr; };
    if (of_size && std::ranges::any_of(rule.holds.names(), is_tuned)) continue;
    if (rule.holds.evaluate_boolean(bindings)) continue;
    std::string text = rule.broken;
    for (const Expression& value : rule.values)
      text.replace(text.find("{}"), 2, std::to_string(value.evaluate_integer(bindings)));
    return text;
  }
  return std::nullopt;
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
  try {
    problem = broken_rule(spec, size, bindings, true);
  } catch (const EvaluationError& error) {
    problem = error.what();
  }
  for (const LaunchSpec& prepare : spec.prepare)
    if (!problem) is_made(spec, prepare, "prepare '" + prepare.name + "': ", size, limits, bindings, problem);
  return problem;
}

}  // namespace

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
  for (const TensorMapRule& rule : tensor_map_rules(spec, size)) conjuncts.push_back({rule.holds, true});
  add_code(spec, conjuncts);
  if (const auto any = any_timed_launch(spec)) conjuncts.push_back({*any, true});
  if (at_most == ~std::size_t{0}) return listed_or_drawn(spec.space.parameters(), conjuncts, fixed, stop);
  return enumerate_conjuncts(spec.space.parameters(), conjuncts, fixed, stop, at_most);
}

std::optional<std::string> why_never(const KernelSpec& spec, const DeviceLimits& limits) {
  const bool on_the_host = limits.compute_capability == 0;
  if (spec.device_launches && on_the_host) return "launches kernels from the device; the host backend cannot";
  if (spec.tensor_maps.empty() || limits.compute_capability >= kFirstWithTensorMaps) return std::nullopt;
  return "is given tensor maps, which need a GPU of compute capability 9.0 or later";
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
    if ((problem = broken_rule(spec, size, all, false))) return problem;
    pending_device_launches(spec, size, limits, configuration);
    compile_options(spec, size, limits, configuration);
    macros(spec, size, limits, configuration);
  } catch (const EvaluationError& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace tuner
