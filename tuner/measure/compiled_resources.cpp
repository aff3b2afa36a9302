#include <tuner/measure/compiled_resources.hpp>

#include <algorithm>
#include <optional>

#include <tuner/measure/expressions.hpp>

namespace tuner {

Resources worst(const Resources& a, const Resources& b) {
  const auto lowest = [](auto x, auto y) { return x == 0 ? y : y == 0 ? x : std::min(x, y); };
  return {std::max(a.registers, b.registers),
          std::max(a.spill_bytes, b.spill_bytes),
          std::max(a.stack_bytes, b.stack_bytes),
          std::max(a.static_shared_bytes, b.static_shared_bytes),
          std::max(a.constant_bytes, b.constant_bytes),
          lowest(a.blocks_per_sm, b.blocks_per_sm),
          lowest(a.occupancy, b.occupancy)};
}

Resources compiled_resources(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                             const Configuration& configuration, const Image& image) {
  std::optional<Resources> all;
  for (const ResolvedLaunch& launch : resolve_launches(spec, size, limits, configuration)) {
    const std::optional<std::size_t> function = find_function(image, launch.expression);
    if (!function || !launch.timed) continue;
    Resources of_launch = image.functions[*function].resources;
    if (of_launch.registers > 0) {
      const Occupancy fit = occupancy(limits, launch.shape.threads_per_block(), of_launch.registers,
                                      of_launch.static_shared_bytes + launch.shape.shared_bytes);
      of_launch.blocks_per_sm = fit.blocks_per_sm;
      of_launch.occupancy = fit.fraction;
    }
    all = all ? worst(*all, of_launch) : of_launch;
  }
  return all.value_or(Resources{});
}

}  // namespace tuner
