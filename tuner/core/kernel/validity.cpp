#include <tuner/core/kernel/validity.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
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
#include <tuner/core/values/message_text.hpp>

namespace tuner {
namespace {

constexpr int kFirstWithTensorMaps = 90;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// \p predicate, which is required only if \p when is true or not set.
Expression guarded(const std::optional<Expression>& when, const Expression& predicate) {
  return when ? combine(Op::logical_or, {combine(Op::logical_not, {*when}), predicate}) : predicate;
}

/// Adds the device's limits for \p launch as predicates for the enumeration.
void add_limits(const LaunchSpec& launch, const DeviceLimits& limits, std::vector<Conjunct>& conjuncts) {
  const auto require = [&](const Expression& predicate) {
    conjuncts.push_back({guarded(launch.when, predicate), true});
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

/// Begins messages about \p launch, if there are several.
std::string place_of(const KernelSpec& spec, const LaunchSpec& launch, const char* end) {
  return spec.launches.size() > 1 ? "launch '" + launch.name + "'" + end : "";
}

/// The condition on which a launch is made and, if \p timed, also timed; nothing if one always is.
std::optional<Expression> any_launch(const std::vector<LaunchSpec>& launches, bool timed) {
  std::optional<Expression> any;
  for (const LaunchSpec& launch : launches) {
    std::optional<Expression> made = launch.when;
    if (timed && launch.untimed) {
      const Expression is_timed = combine(Op::logical_not, {*launch.untimed});
      made = made ? combine(Op::logical_and, {*made, is_timed}) : is_timed;
    }
    if (!made) return std::nullopt;
    any = combine(Op::logical_or, {any.value_or(Expression::constant(0)), *made});
  }
  return any;
}

bool names_a_word(const KernelSpec& spec, const Expression& value) {
  const TuningParameter* const named = is_name(value) ? spec.space.find(value.names().front()) : nullptr;
  return named != nullptr && named->values.front().is_string();
}

/// All that must hold beside the constraints and the limits of launches.
std::vector<Condition> conditions_of(const KernelSpec& spec, const ProblemSize& size) {
  std::vector<Condition> all;
  if (auto made = any_launch(spec.launches, false))
    all.push_back(
        {.value = std::move(*made), .broken = "nothing is launched: the conditions of all launches are false"});
  const auto may_be_untimed = [](const LaunchSpec& launch) { return launch.untimed.has_value(); };
  if (auto timed = any_launch(spec.launches, true); timed && std::ranges::any_of(spec.launches, may_be_untimed))
    all.push_back({.value = std::move(*timed), .broken = "no launch is timed: all that are made are 'untimed'"});
  const auto has_value = [&](const Expression& value, const std::optional<Expression>& when, std::string subject) {
    all.push_back({.value = value, .low = kLeast, .high = kMost, .when = when, .subject = std::move(subject)});
  };
  for (const LaunchSpec& launch : spec.launches) {
    if (launch.untimed) has_value(*launch.untimed, launch.when, place_of(spec, launch, ""));
    for (const ComputedArgument& argument : launch.computed_arguments) {
      const ElementType type = resolved_type(spec, size, argument.type);
      const auto range = integer_range(type);
      if (!range || names_a_word(spec, argument.value)) continue;
      all.push_back({argument.value, range->low, range->high, launch.when,
                     place_of(spec, launch, ": ") + "argument '" + argument.name + "'",
                     "{} does not fit its type " + std::string(info(type).name)});
    }
  }
  for (const BufferSpec& buffer : spec.buffers)
    all.push_back({buffer.count, 0, kMost, {}, "buffer '" + buffer.name + "'", "it would have {} elements"});
  if (const auto& pending = spec.device_launches)
    all.push_back({*pending, 0, kMost, {}, "'device_launches'", in_quotes(pending->text()) + " is negative: {}"});
  std::ranges::move(tensor_map_rules(spec, size), std::back_inserter(all));
  for_each_expression(spec, [&](const Expression& expression, const ExpressionUse& use) {
    if (use.role != ExpressionRole::code || use.only_tuning || is_name(expression)) return;
    has_value(expression, use.when ? std::optional(*use.when) : std::nullopt,
              use.launch ? place_of(spec, *use.launch, "") : std::string());
  });
  return all;
}

/// Why \p condition does not hold; nothing if it does.
std::optional<std::string> why_broken(const Condition& condition, const Bindings& bindings) {
  const std::string place = condition.subject.empty() ? "" : condition.subject + ": ";
  try {
    if (condition.when && !condition.when->evaluate_boolean(bindings)) return std::nullopt;
    const std::int64_t value = condition.value.evaluate_integer(bindings);
    if (condition.low <= value && value <= condition.high) return std::nullopt;
    std::string text = condition.broken;
    const auto show = [&](std::int64_t number) {
      if (const std::size_t at = text.find("{}"); at != text.npos) text.replace(at, 2, std::to_string(number));
    };
    for (const Expression& one : condition.shown) show(one.evaluate_integer(bindings));
    show(value);
    return place + text;
  } catch (const EvaluationError& error) {
    return place + error.what();
  }
}

bool names_a_parameter(const KernelSpec& spec, const Expression& expression) {
  return std::ranges::any_of(expression.names(),
                             [&](const std::string& name) { return spec.space.find(name) != nullptr; });
}

/// Whether it may hold for some configurations only.
bool is_tuned(const KernelSpec& spec, const Condition& condition) {
  return names_a_parameter(spec, condition.value) || (condition.when && names_a_parameter(spec, *condition.when));
}

/// The constraint on sizes alone that \p size does not meet, with its sizes; nothing if it meets all.
std::optional<std::string> unmet_constraint(const KernelSpec& spec, const ProblemSize& size, const Bindings& bindings) {
  for (const Constraint& constraint : spec.space.constraints()) {
    const std::vector<std::string>& names = constraint.predicate.names();
    const auto is_size = [&](const std::string& name) { return spec.find_size(name) != nullptr; };
    if (names_a_parameter(spec, constraint.predicate) || std::ranges::none_of(names, is_size)) continue;
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

/// The conditions of one problem, prepared for many configurations.
class Validity {
 public:
  Validity(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits)
      : spec_(spec), size_(size), limits_(limits), fixed_(bindings(spec, size, limits)) {
    try {
      conditions_ = conditions_of(spec, size);
      impossible_ = problem_of_size();
    } catch (const EvaluationError& error) {
      impossible_ = error.what();
    }
  }

  const std::optional<std::string>& why_impossible() const { return impossible_; }
  const Bindings& fixed() const { return fixed_; }

  std::optional<std::string> why_invalid(const Configuration& configuration) const {
    if (const auto never = why_never(spec_, limits_)) return "the kernel " + *never;
    if (impossible_) return impossible_;
    try {
      if (auto violation = spec_.space.violation(configuration, fixed_)) return violation;
    } catch (const EvaluationError& error) {
      return error.what();
    }
    Bindings all = fixed_;
    for (const auto& [name, value] : configuration.entries()) all.set(name, value);
    for (const LaunchSpec& launch : spec_.launches)
      if (auto problem = problem_of_launch(launch, place_of(spec_, launch, ": "), all)) return problem;
    for (const Condition& condition : conditions_)
      if (is_tuned(spec_, condition))
        if (auto problem = why_broken(condition, all)) return problem;
    return std::nullopt;
  }

  /// Of all that may differ between configurations.
  std::vector<Conjunct> predicates() const {
    std::vector<Conjunct> all;
    for (const Constraint& constraint : spec_.space.constraints()) all.push_back({constraint.predicate, false});
    for (const LaunchSpec& launch : spec_.launches) add_limits(launch, limits_, all);
    for (const Condition& condition : conditions_)
      if (is_tuned(spec_, condition)) all.push_back({predicate(condition), true});
    return all;
  }

 private:
  /// Why no configuration may run for this problem.
  std::optional<std::string> problem_of_size() const {
    for (const SizeSpec& wanted : spec_.sizes) {
      const auto at = size_.sizes.find(wanted.name);
      if (at == size_.sizes.end()) return "size '" + wanted.name + "' is not given";
      if (at->second < 0 || at->second > integer_range(wanted.type)->high) {
        return wanted.name + "=" + std::to_string(at->second) + " does not fit its type " +
               std::string(info(wanted.type).name);
      }
    }
    if (auto unmet = unmet_constraint(spec_, size_, fixed_)) return unmet;
    for (const Condition& condition : conditions_)
      if (!is_tuned(spec_, condition))
        if (auto problem = why_broken(condition, fixed_)) return problem;
    for (const LaunchSpec& prepare : spec_.prepare)
      if (auto problem = problem_of_launch(prepare, "prepare '" + prepare.name + "': ", fixed_)) return problem;
    return std::nullopt;
  }

  /// Why \p launch cannot be made, which its condition may exclude. The text begins with \p place.
  std::optional<std::string> problem_of_launch(const LaunchSpec& launch, const std::string& place,
                                               const Bindings& bindings) const {
    std::optional<std::string> problem;
    try {
      if (launch.when && !launch.when->evaluate_boolean(bindings)) return std::nullopt;
      problem = violated_limit(shape_of(launch, bindings), limits_);
    } catch (const EvaluationError& error) {
      problem = error.what();
    }
    if (problem) problem->insert(0, place);
    return problem;
  }

  const KernelSpec& spec_;
  const ProblemSize& size_;
  const DeviceLimits& limits_;
  Bindings fixed_;  // the names that all configurations have in common
  std::vector<Condition> conditions_;
  std::optional<std::string> impossible_;
};

}  // namespace

Expression predicate(const Condition& condition) {
  const Expression& value = condition.value;
  if (condition.low == 1 && condition.high == 1) return guarded(condition.when, value);
  const Expression least =
      guarded(condition.when, combine(Op::less_equal, {Expression::constant(condition.low), value}));
  if (condition.high == kMost) return least;
  const Expression most = combine(Op::less_equal, {value, Expression::constant(condition.high)});
  return combine(Op::logical_and, {least, guarded(condition.when, most)});
}

EnumeratedSpace enumerate(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                          const StopHook& stop) {
  const Validity validity(spec, size, limits);
  if (why_never(spec, limits) || validity.why_impossible())
    return EnumeratedSpace::from_codes(spec.space.parameters(), {});
  return listed_or_drawn(spec.space.parameters(), validity.predicates(), validity.fixed(), stop);
}

std::optional<Configuration> first_valid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const StopHook& stop) {
  const Validity validity(spec, size, limits);
  if (why_never(spec, limits) || validity.why_impossible()) return std::nullopt;
  const EnumeratedSpace one =
      enumerate_conjuncts(spec.space.parameters(), validity.predicates(), validity.fixed(), stop, /*at_most=*/1);
  return one.empty() ? std::nullopt : std::optional(one.configuration(0));
}

std::optional<std::string> why_never(const KernelSpec& spec, const DeviceLimits& limits) {
  const bool on_the_host = limits.compute_capability == 0;
  if (spec.device_launches && on_the_host) return "launches kernels from the device; the host backend cannot";
  if (spec.tensor_maps.empty() || limits.compute_capability >= kFirstWithTensorMaps) return std::nullopt;
  return "is given tensor maps, which need a GPU of compute capability 9.0 or later";
}

std::optional<std::string> why_impossible(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  return Validity(spec, size, limits).why_impossible();
}

std::optional<std::string> why_invalid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                       const Configuration& configuration) {
  return Validity(spec, size, limits).why_invalid(configuration);
}

std::vector<Impossible> impossible_configurations(const KernelSpec& spec, const ProblemSize& size,
                                                  const DeviceLimits& limits, std::size_t most) {
  std::vector<Impossible> all;
  if (spec.space.product() > static_cast<double>(most)) return all;
  std::vector<std::uint64_t> codes(static_cast<std::size_t>(spec.space.product()));
  std::iota(codes.begin(), codes.end(), std::uint64_t{0});
  const EnumeratedSpace space = EnumeratedSpace::from_codes(spec.space.parameters(), std::move(codes));
  const Validity validity(spec, size, limits);
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i) {
    Configuration configuration = space.configuration(i);
    if (auto reason = validity.why_invalid(configuration))
      all.push_back({std::move(configuration), std::move(*reason)});
  }
  return all;
}

}  // namespace tuner
