#include <tuner/measure/compiled_resources.hpp>

#include <algorithm>
#include <utility>

#include <tuner/core/kernel/launches.hpp>
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

void MainResources::add(const LaunchShape& shape, const Resources& resources) {
  const int spilled = std::max(resources.spill_bytes, main_ ? main_->spill_bytes : 0);
  const std::int64_t threads = shape.blocks() * shape.threads_per_block();
  if (threads > threads_) threads_ = threads, main_ = resources;
  main_->spill_bytes = spilled;
}

Resources compiled_resources(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                             const Configuration& configuration, const Image& image) {
  MainResources all;
  for (const LaunchDetail& launch : launch_details(spec, size, limits, configuration, image))
    if (launch.timed) all.add(launch.shape, launch.resources);
  return all.get().value_or(Resources{});
}

}  // namespace tuner
