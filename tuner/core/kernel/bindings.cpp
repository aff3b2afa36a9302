#include <tuner/core/kernel/bindings.hpp>

#include <cmath>

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner {

void bind_device_limits(Bindings& bindings, const DeviceLimits& limits) {
  bindings.set("warp_size", limits.warp_size);
  bindings.set("sm_count", limits.sm_count);
  bindings.set("max_threads_per_block", limits.max_threads_per_block);
  bindings.set("max_threads_per_sm", limits.max_threads_per_sm);
  bindings.set("max_blocks_per_sm", limits.max_blocks_per_sm);
  bindings.set("max_shared_bytes", limits.max_shared_bytes);
  bindings.set("shared_bytes_per_sm", limits.shared_bytes_per_sm);
  bindings.set("registers_per_block", limits.registers_per_block);
  bindings.set("max_grid_x", limits.max_grid[0]);
  bindings.set("max_grid_y", limits.max_grid[1]);
  bindings.set("cc", limits.compute_capability);
  bindings.set("is_host", limits.compute_capability == 0);
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

std::int64_t evaluate_amount(const KernelSpec& spec, const Expression& amount, const ProblemSize& size,
                             const DeviceLimits& limits) {
  const std::int64_t value = amount.evaluate_integer(bindings(spec, size, limits));
  if (value < 0)
    throw EvaluationError(amount.location(),
                          in_quotes(amount.text()) + " is negative: " + std::to_string(value) + " for " + size.text());
  return value;
}

std::int64_t pending_device_launches(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                     const Configuration& configuration) {
  if (!spec.device_launches) return 0;
  return spec.device_launches->evaluate_integer(bindings(spec, size, limits, configuration));
}

Tolerance tolerance_for(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits, ElementType type) {
  if (!info(type).is_floating) return {};
  if (spec.verification.tolerance) return *spec.verification.tolerance;
  // Results are computed in another type and rounded once, so that they differ by one place at most.
  if (info(type).step > 0) return {2 * info(type).epsilon, info(type).step, true};
  const std::int64_t terms =
      spec.verification.accumulates ? evaluate_amount(spec, *spec.verification.accumulates, size, limits) : 1;
  return {info(type).epsilon * (16 + std::sqrt(static_cast<double>(terms))), 0, false};
}

}  // namespace tuner
