#include <tuner/runtime/decide/make_plan.hpp>

#include <algorithm>
#include <limits>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/expression/open_expression.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>
#include <tuner/core/kernel/tensor_maps.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/compiled_resources.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner::runtime {
namespace {

/// Expressions that depend only on sizes; all other names have their values.
struct Sized {
  Sized(const KernelSpec& spec, const BoundCall& bound, const DeviceLimits& limits, const Configuration& configuration)
      : here(bindings(spec, bound.size, limits, configuration)), low(bound.key.classes), high(class_ends(low)) {
    for (const SizeSpec& size : spec.sizes) names.push_back(size.name);
  }

  struct Open {
    OpenExpression value;
    /// Contains the values for all sizes of the class; nullopt: some may have no value.
    std::optional<OpenExpression::Range> range;
  };
  Open open(const Expression& expression) const {
    const OpenExpression value(expression, names, here);
    return {value, value.range(low.data(), high.data())};
  }

  /// Whether \p expression names a size. If not, it has the same value for all sizes.
  bool varies(const Expression& expression) const {
    const std::vector<std::string>& used = expression.names();
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& size) { return std::binary_search(used.begin(), used.end(), size); });
  }

  Bindings here;    ///< for the sizes of this call
  Sizes low, high;  ///< of the size class
  std::vector<std::string> names;
};

/// Requires that \p expression is \p truth for each size of the plan, as it is for the sizes of this call.
void require(Plan& plan, const Sized& sized, const Expression& expression, bool truth) {
  if (!sized.varies(expression)) return;
  const auto [open, range] = sized.open(expression);
  const bool certain = range && (truth ? range->low > 0 || range->high < 0 : range->low == 0 && range->high == 0);
  if (!certain) plan.conditions.push_back({open, truth, truth, true});
}

PlannedLaunch planned(const ResolvedLaunch& resolved, const Sized& sized, const DeviceLimits& limits) {
  PlannedLaunch launch;
  launch.shape = resolved.shape;
  LaunchShape lowest = resolved.shape, highest = resolved.shape;
  const auto work_out = [&](const Expression& expression, std::size_t which) {
    if (!sized.varies(expression)) return;
    const auto [open, range] = sized.open(expression);
    launch.may_exceed = launch.may_exceed || !range;
    if (range && range->low == range->high) return;
    launch.sized.push_back({which, open});
    if (range) extent(lowest, which) = range->low, extent(highest, which) = range->high;
  };
  for (std::size_t d = 0; d < 3; ++d) {
    work_out(resolved.spec->grid[d], d);
    work_out(resolved.spec->block[d], 3 + d);
  }
  work_out(resolved.spec->shared_bytes, 6);
  launch.may_exceed = launch.may_exceed || violated_limit(lowest, limits) || violated_limit(highest, limits);
  return launch;
}

/// Requires that \p extent has the same value for each size of the plan.
void require_same(Plan& plan, const Sized& sized, const Expression& extent) {
  if (!sized.varies(extent)) return;
  const std::int64_t here = extent.evaluate_integer(sized.here);
  plan.conditions.push_back({sized.open(extent).value, here, here, false});
}

/// Takes over what depends on the loaded function. Throws Error if the device cannot launch it with this call's grid.
void adopt(PlannedLaunch& launch, const ResolvedLaunch& resolved, const Module& module, const DeviceLimits& limits) {
  const LoadedLaunch loaded = loaded_launch(module, launch.function, resolved.expression, resolved.shape, limits);
  if (loaded.why_not) throw Error(ErrorCode::compiler, *loaded.why_not);
  launch.shape = loaded.shape;
  // Other grids may not consist of clusters.
  launch.may_exceed = launch.may_exceed || (launch.shape.blocks_per_cluster() != 1 && !launch.sized.empty());
  if (launch.shape.cooperative) launch.resident = loaded.resident;
}

/// Whether any launch takes \p buffer. A buffer that only the reference takes needs no memory.
bool is_launched_with(const KernelSpec& spec, const BufferSpec& buffer) {
  return std::any_of(spec.launches.begin(), spec.launches.end(),
                     [&](const LaunchSpec& launch) { return contains(spec.taken_by(launch), buffer.name); });
}

/// Requires that no buffer has a negative size. Returns where each work buffer begins, and adds the space that the
/// largest sizes of the class need. If that is unknown, or much more than this call needs, the plan is for its sizes
/// only.
std::vector<std::size_t> lay_out_buffers(Plan& plan, const KernelSpec& spec, const BoundCall& bound,
                                         const Sized& sized) {
  const auto room = [](std::int64_t count, std::size_t bytes) {
    const std::size_t wanted = static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * bytes;
    return (wanted + kWorkAlignment - 1) / kWorkAlignment * kWorkAlignment;
  };
  constexpr std::int64_t kFew = 65536;
  std::vector<std::size_t> offsets(spec.buffers.size());
  for (std::size_t i = 0; i < spec.buffers.size(); ++i) {
    const BufferSpec& buffer = spec.buffers[i];
    if (bound.buffers[i] == kWorkSpace ? !is_launched_with(spec, buffer) : !sized.varies(buffer.count)) continue;
    const auto [count, range] = sized.open(buffer.count);
    const bool certain = range && range->low >= 0;
    if (!certain) plan.conditions.push_back({count, 0, std::numeric_limits<std::int64_t>::max(), false});
    if (bound.buffers[i] != kWorkSpace) continue;
    const std::int64_t here = buffer.count.evaluate_integer(sized.here);
    const bool known = certain && range->high / 8 <= std::max(here, kFew);
    if (!known) plan.only = bound.sizes;
    std::size_t& part = buffer.role == BufferRole::zeroed ? plan.work.zeroed : plan.work.scratch;
    offsets[i] = part;
    part += room(known ? range->high : here, info(resolved_type(spec, bound.size, buffer.type)).bytes);
  }
  return offsets;
}

ParameterSource source_of(const BoundArgument& argument, const KernelSpec& spec, const BoundCall& bound,
                          const std::vector<std::size_t>& work) {
  using From = ParameterSource::Kind;
  using Kind = BoundArgument::Kind;
  if (argument.kind == Kind::constant || argument.kind == Kind::null_pointer)
    return {From::constant, 0, argument.type, argument.constant};
  if (argument.kind == Kind::size) return {From::size, argument.index, argument.type, {}};
  if (argument.kind == Kind::scalar) {
    const std::size_t given = bound.scalars[argument.index];
    const std::optional<RecordType>& record = spec.scalars[argument.index].record;
    if (!record) return {From::number, given, argument.type, {}};
    ParameterSource source{From::structure, given, argument.type, {}};
    source.constant.size = record->bytes;
    return source;
  }
  const std::size_t callers = bound.buffers[argument.index];
  if (callers != kWorkSpace) return {From::pointer, callers, argument.type, {}};
  const bool zeroed = spec.buffers[argument.index].role == BufferRole::zeroed;
  return {zeroed ? From::zeroed : From::scratch, work[argument.index], argument.type, {}};
}

/// A tensor map, which the launches of \p plan share.
ParameterSource map_source(const BoundArgument& argument, Plan& plan, const KernelSpec& spec, const BoundCall& bound,
                           const Sized& sized, const std::vector<std::size_t>& work) {
  const TensorMapSpec& map = spec.tensor_maps[argument.index];
  const ParameterSource source{ParameterSource::Kind::tensor_map, plan.maps.size(), argument.type, {}};
  for (std::size_t i = 0; i < plan.maps.size(); ++i)
    if (plan.maps[i].name == map.name) return {source.kind, i, argument.type, {}};
  const auto buffer = std::ranges::find(spec.buffers, map.buffer, &BufferSpec::name);
  const BoundArgument pointer{BoundArgument::Kind::buffer,
                              static_cast<std::size_t>(buffer - spec.buffers.begin()),
                              resolved_type(spec, bound.size, buffer->type),
                              {}};
  PlannedTensorMap& made = plan.maps.emplace_back(PlannedTensorMap{map.name, source_of(pointer, spec, bound, work),
                                                                   shape_of(map, pointer.type, sized.here),
                                                                   plan.backend.device().key.compute_capability});
  for (std::size_t i = 0; i < map.numbers.size(); ++i)
    if (sized.varies(map.numbers[i])) made.sized.emplace_back(i, sized.open(map.numbers[i]).value);
  return source;
}

/// A number that is computed from the sizes. Throws Error if the number of this call does not fit its type.
ParameterSource computed_source(const BoundArgument& argument, Plan& plan, const Sized& sized) {
  using From = ParameterSource::Kind;
  const Argument here = computed_argument(argument, sized.here);
  if (!sized.varies(*argument.computed)) return {From::constant, 0, argument.type, here};
  const auto [open, range] = sized.open(*argument.computed);
  using Limits = std::numeric_limits<std::int64_t>;
  const IntegerRange holds = integer_range(argument.type).value_or(IntegerRange{Limits::min(), Limits::max()});
  if (!range || range->low < holds.low || range->high > holds.high)
    plan.conditions.push_back({open, holds.low, holds.high, false});
  return {From::computed, 0, argument.type, {}, open};
}

}  // namespace

CompileRequest served_request(const ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                              const Configuration& configuration) {
  return call_request(spec, size, device.device().limits, device.backend->architecture(), configuration);
}

void require_servable(const KernelSpec& spec) {
  const auto refuse = [&](const std::string& why) { throw refusal(spec.name, why, ErrorCode::invalid_kernel); };
  for (const BufferSpec& buffer : spec.buffers)
    if (buffer.role == BufferRole::constant)
      refuse(" reads constant memory ('" + buffer.name +
             "'), which calls cannot fill: pass it as an argument, or launch the kernel yourself");
  if (!spec.textures.empty())
    refuse(" reads or writes through '" + spec.textures.front().name +
           "', a copy of its buffer that calls do not make: make the object, and launch the kernel yourself");
}

std::unique_ptr<Plan> make_plan(ServedDevice& device, const KernelSpec& spec, const BoundCall& bound,
                                const Configuration& configuration) {
  const DeviceLimits& limits = device.device().limits;
  const auto refused = [&](const std::string& why) { return refusal(spec.name, why, ErrorCode::invalid_kernel); };
  require_servable(spec);
  const Sized sized(spec, bound, limits, configuration);
  auto made = std::make_unique<Plan>(*device.backend);
  made->kernel = spec.name;
  Plan& plan = *made;
  plan.key = bound.key;
  plan.configuration = configuration;
  // Here a size is part of the code: in the name of a function, an option or a macro.
  const auto made_of = [&](const auto& names) {
    for (const auto& name : names)
      if (spec.find_size(name) != nullptr) plan.only = bound.sizes;
  };
  for (const Constraint& constraint : spec.space.constraints()) require(plan, sized, constraint.predicate, true);
  for (const Condition& rule : tensor_map_rules(spec, bound.size, TensorMapUse::call))
    require(plan, sized, predicate(rule), true);
  for (const LaunchSpec& launch : spec.launches) {
    const bool happens = !launch.when || launch.when->evaluate_boolean(sized.here);
    if (launch.when) require(plan, sized, *launch.when, happens);
    for (const auto* const condition : {&launch.cooperative, &launch.dependent})
      if (happens && *condition) require(plan, sized, **condition, (*condition)->evaluate_boolean(sized.here));
    if (happens && launch.carveout) require_same(plan, sized, *launch.carveout);
    if (happens && launch.cluster)
      for (const Expression& extent : *launch.cluster) require_same(plan, sized, extent);
    made_of(words_of(launch.instantiate));
  }
  for_each_expression(spec, [&](const Expression& expression, const ExpressionUse& use) {
    if (use.role == ExpressionRole::code && !use.only_tuning) made_of(expression.names());
  });
  std::int64_t room = 0;  // for launches by the device
  if (spec.device_launches) {
    const auto range = sized.open(*spec.device_launches).range;
    if (!range) plan.only = bound.sizes;
    room = range ? range->high : spec.device_launches->evaluate_integer(sized.here);
  }
  const std::vector<std::size_t> work = lay_out_buffers(plan, spec, bound, sized);

  const auto resolved = resolve_launches(spec, bound.size, limits, configuration);
  if (resolved.size() > kMaxLaunches) throw refused(": more than " + std::to_string(kMaxLaunches) + " launches");
  const std::vector<std::string> expressions = distinct_expressions(resolved);
  plan.module = device.modules.load(
      compile_request(spec, bound.size, limits, device.backend->architecture(), expressions, configuration));
  if (room > 0) device.backend->allow_device_launches(room);  // not undone, so only after the module has loaded
  for (const ResolvedLaunch& launch : resolved) {
    PlannedLaunch& added = plan.launches.emplace_back(planned(launch, sized, limits));
    const auto at = std::find(expressions.begin(), expressions.end(), launch.expression);
    added.function = static_cast<std::size_t>(at - expressions.begin());
    adopt(added, launch, *plan.module, limits);
    if (launch.shape.cooperative) {
      // The number of resident blocks is known only for this block.
      const auto of_block = [](const SizedExtent& extent) { return extent.extent >= 3; };
      if (std::any_of(added.sized.begin(), added.sized.end(), of_block)) plan.only = bound.sizes;
    }
    const auto arguments = bind_arguments(spec, *launch.spec, bound.size, configuration);
    if (const auto why =
            wrong_type(spec, *launch.spec, launch.expression, arguments, plan.module->parameter_types(added.function)))
      throw refused(": " + *why);
    plan.parameters += arguments.size();
    if (plan.parameters > kMaxParameters)
      throw refused(": a call's launches take more than " + std::to_string(kMaxParameters) + " arguments");
    for (const BoundArgument& argument : arguments)
      added.parameters.push_back(argument.kind == BoundArgument::Kind::computed ? computed_source(argument, plan, sized)
                                 : argument.kind == BoundArgument::Kind::tensor_map
                                     ? map_source(argument, plan, spec, bound, sized, work)
                                     : source_of(argument, spec, bound, work));
  }
  if (plan.maps.size() > kMaxTensorMaps)
    throw refused(": more than " + std::to_string(kMaxTensorMaps) + " tensor maps in the launches of a call");
  return made;
}

}  // namespace tuner::runtime
