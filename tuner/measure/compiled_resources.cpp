#include <tuner/measure/compiled_resources.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tuner/core/kernel/launches.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner {
namespace {

/// Checks limits that depend on the compiled kernel.
std::optional<std::string> violated_limit(const std::string& expression, const LoadedLaunch& launch,
                                          const DeviceLimits& limits) {
  const auto& [shape, resources, resident, why_not] = launch;
  if (const auto why = violated_by_kernel(shape, resources.registers, resources.static_shared_bytes, limits))
    return expression + ": " + *why;
  if (resident == 0) return std::nullopt;
  if (const auto crowded = not_resident(shape, resident, limits))
    return fmt::format("{}, with {} registers a thread and {} bytes of shared memory: {}", expression,
                       resources.registers, resources.static_shared_bytes + shape.shared_bytes, *crowded);
  return std::nullopt;
}

}  // namespace

LoadedLaunch loaded_launch(const Module& module, std::size_t function, const std::string& expression,
                           const LaunchShape& shape, const DeviceLimits& limits) {
  LoadedLaunch launch{shape, {}, 0, {}};
  if (const auto contradiction = adopt_cluster(launch.shape, module.compiled_cluster(function))) {
    launch.shape.cluster = {1, 1, 1};
    launch.why_not = expression + ": " + *contradiction;
  }
  launch.resources = module.resources(function, launch.shape);
  launch.resident = std::int64_t{launch.resources.blocks_per_sm} * limits.sm_count;
  if (const std::int64_t blocks = launch.shape.blocks_per_cluster(); blocks != 1) {
    const std::optional<std::int64_t> clusters = module.resident_clusters(function, launch.shape);
    launch.resident = clusters.value_or(0) * blocks;
    if (clusters == 0)
      launch.why_not = fmt::format(
          "{}: no cluster of {} blocks fits on the device, with {} threads, {} registers a "
          "thread and {} bytes of shared memory a block",
          expression, blocks, launch.shape.threads_per_block(), launch.resources.registers,
          launch.resources.static_shared_bytes + shape.shared_bytes);
  }
  if (!launch.why_not) launch.why_not = violated_limit(expression, launch, limits);
  return launch;
}

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

void count_clusters(std::vector<LaunchDetail>& launches, const Image& image, Backend& backend) {
  const auto loaded = backend.load(image);
  const auto* const module = std::get_if<std::unique_ptr<Module>>(&loaded);
  if (module == nullptr) return;
  for (LaunchDetail& launch : launches) {
    const auto at = find_function(image, launch.expression);
    if (!at) continue;
    const LoadedLaunch there = loaded_launch(**module, *at, launch.expression, launch.shape, backend.device().limits);
    if (there.shape.blocks_per_cluster() == 1) continue;
    launch.shape = there.shape;
    launch.clusters = (*module)->resident_clusters(*at, launch.shape);
    launch.resources.blocks_per_sm = there.resources.blocks_per_sm;
    launch.resources.occupancy = there.resources.occupancy;
  }
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
