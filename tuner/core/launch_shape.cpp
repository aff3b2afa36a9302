#include <tuner/core/launch_shape.hpp>

#include <algorithm>

namespace tuner {
namespace {

constexpr char kAxis[] = {'x', 'y', 'z'};

std::string joined(const std::array<std::int64_t, 3>& extents) {
  return std::to_string(extents[0]) + 'x' + std::to_string(extents[1]) + 'x' + std::to_string(extents[2]);
}

std::optional<std::string> violated_extent(const char* what, const std::array<std::int64_t, 3>& extents,
                                           const std::array<std::int64_t, 3>& limits) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (extents[i] >= 1 && extents[i] <= limits[i]) continue;
    const std::string place = std::string(what) + " of " + joined(extents);
    if (extents[i] < 1) return place + " is empty: its extent in " + kAxis[i] + " is " + std::to_string(extents[i]);
    return place + " exceeds the limit of " + std::to_string(limits[i]) + " in " + kAxis[i];
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> violated_limit(const LaunchShape& shape, const DeviceLimits& limits) {
  // Threads first: their message says more than that of one axis. Extents may be so large that their product overflows.
  std::int64_t threads = 0;
  const bool overflows = __builtin_mul_overflow(shape.block[0], shape.block[1], &threads) ||
                         __builtin_mul_overflow(threads, shape.block[2], &threads);
  const bool empty = shape.block[0] < 1 || shape.block[1] < 1 || shape.block[2] < 1;
  if (!empty && (overflows || threads > limits.max_threads_per_block)) {
    return "block of " + joined(shape.block) + (overflows ? "" : " = " + std::to_string(threads) + " threads") +
           " exceeds the limit of " + std::to_string(limits.max_threads_per_block) + " threads per block";
  }
  if (auto violated = violated_extent("block", shape.block, limits.max_block)) return violated;
  if (auto violated = violated_extent("grid", shape.grid, limits.max_grid)) return violated;
  if (shape.shared_bytes < 0)
    return "dynamic shared memory of " + std::to_string(shape.shared_bytes) + " bytes is negative";
  if (shape.shared_bytes > limits.max_shared_bytes) {
    return "dynamic shared memory of " + std::to_string(shape.shared_bytes) + " bytes exceeds the limit of " +
           std::to_string(limits.max_shared_bytes) + " bytes per block";
  }
  if (!shape.cooperative) return std::nullopt;
  if (!limits.cooperative_launch) return "this device has no cooperative launches";
  const std::int64_t warps = (threads + limits.warp_size - 1) / limits.warp_size;
  const std::int64_t by_threads = limits.max_threads_per_sm / limits.warp_size / warps;
  return not_resident(shape, std::min<std::int64_t>(by_threads, limits.max_blocks_per_sm), limits);
}

std::optional<std::string> not_resident(const LaunchShape& shape, std::int64_t blocks_per_sm,
                                        const DeviceLimits& limits) {
  const std::int64_t resident = blocks_per_sm * limits.sm_count;
  if (!shape.cooperative || shape.blocks() <= resident) return std::nullopt;
  return "a cooperative grid of " + std::to_string(shape.blocks()) + " blocks of " +
         std::to_string(shape.threads_per_block()) +
         " threads is not resident at once: " + std::to_string(blocks_per_sm) + " on each of " +
         std::to_string(limits.sm_count) + " multiprocessors are " + std::to_string(resident);
}

}  // namespace tuner
