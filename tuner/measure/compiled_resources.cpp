#include <tuner/measure/compiled_resources.hpp>

#include <algorithm>
#include <utility>

#include <tuner/measure/expressions.hpp>

namespace tuner {

std::vector<LaunchDetail> launch_details(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const Configuration& configuration, const Image& image) {
  std::vector<LaunchDetail> all;
  for (ResolvedLaunch& launch : resolve_launches(spec, size, limits, configuration)) {
    LaunchDetail& detail = all.emplace_back();
    detail.shape = launch.shape;
    detail.timed = launch.timed;
    if (const auto at = find_function(image, launch.expression)) detail.resources = image.functions[*at].resources;
    if (detail.resources.registers > 0) {
      detail.occupancy =
          occupancy(limits, launch.shape.threads_per_block(), detail.resources.registers, detail.shared_bytes());
      detail.resources.blocks_per_sm = detail.occupancy->blocks_per_sm;
      detail.resources.occupancy = detail.occupancy->fraction;
    }
    detail.expression = std::move(launch.expression);
  }
  return all;
}

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
  for (const LaunchDetail& launch : launch_details(spec, size, limits, configuration, image))
    if (launch.timed) all = all ? worst(*all, launch.resources) : launch.resources;
  return all.value_or(Resources{});
}

}  // namespace tuner
