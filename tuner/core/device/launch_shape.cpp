#include <tuner/core/device/launch_shape.hpp>

#include <algorithm>
#include <limits>

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

std::optional<std::string> violated_by_cluster(const LaunchShape& shape) {
  for (std::size_t i = 0; i < 3; ++i)
    if (shape.grid[i] % shape.cluster[i] != 0)
      return "grid of " + joined(shape.grid) + " does not consist of clusters of " + joined(shape.cluster) +
             ": its extent in " + kAxis[i] + " is not a multiple of " + std::to_string(shape.cluster[i]);
  return std::nullopt;
}

/// The reason why a device does not have the attributes of \p shape; nothing if it does. The host, whose compute
/// capability is 0, runs clusters too.
std::optional<std::string> violated_by_attributes(const LaunchShape& shape, const DeviceLimits& limits) {
  if (shape.carveout < LaunchShape::kNoCarveout || shape.carveout > 100)
    return "carveout of " + std::to_string(shape.carveout) + " is not a share in percent (-1 leaves it to the driver)";
  if (auto violated = violated_extent("cluster", shape.cluster, {kMaxCluster, kMaxCluster, kMaxCluster}))
    return violated;
  const std::int64_t blocks = shape.blocks_per_cluster();
  const int has = limits.compute_capability;
  if (has != 0 && has < 90 && (shape.dependent || blocks != 1))
    return std::string(shape.dependent ? "a dependent launch needs" : "a launch with a cluster needs") +
           " compute capability 9.0, and this device has " + std::to_string(has / 10) + '.' + std::to_string(has % 10);
  if (blocks == 1) return std::nullopt;
  if (blocks > kMaxCluster)
    return "cluster of " + joined(shape.cluster) + " = " + std::to_string(blocks) + " blocks exceeds the limit of " +
           std::to_string(kMaxCluster) + " blocks";
  return violated_by_cluster(shape);
}

constexpr std::int64_t kUnlimited = std::numeric_limits<int>::max();
/// The sub-partitions of an SM, and the registers that a warp gets at a time. Fermi has others than all that followed.
std::int64_t sub_partitions(const DeviceLimits& limits) { return limits.compute_capability / 10 == 2 ? 2 : 4; }
std::int64_t register_unit(const DeviceLimits& limits) { return limits.compute_capability / 10 == 2 ? 64 : 256; }

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::int64_t by_registers(const DeviceLimits& limits, std::int64_t warps, int registers) {
  if (registers > limits.max_registers_per_thread + 1) return 0;  // 256 is how the hardware counts 255
  const std::int64_t per_warp = round_up(std::int64_t{registers} * limits.warp_size, register_unit(limits));
  if (per_warp == 0) return kUnlimited;
  // The check at a launch assumes that all sub-partitions get equally many registers.
  if (per_warp * round_up(warps, sub_partitions(limits)) > limits.registers_per_block) return 0;
  const auto blocks = [&](std::int64_t partitions) {
    return limits.registers_per_sm / partitions / per_warp * partitions / warps;
  };
  // Compute capability 6.0 has two partitions, but launches only what its family, with four, could (cuda_occupancy.h).
  const std::int64_t usual = blocks(sub_partitions(limits));
  return limits.compute_capability == 60 && usual > 0 ? blocks(2) : usual;
}

std::int64_t by_shared_memory(const DeviceLimits& limits, std::int64_t shared_bytes) {
  const int generation = limits.compute_capability / 10;
  const std::int64_t unit = generation == 2 || generation >= 8 ? 128 : 256;
  const std::int64_t taken = round_up(shared_bytes + limits.reserved_shared_bytes, unit);
  if (taken > limits.max_shared_bytes + limits.reserved_shared_bytes) return 0;
  return taken == 0 ? kUnlimited : limits.shared_bytes_per_sm / taken;
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
  if (shape.has_attributes())
    if (auto violated = violated_by_attributes(shape, limits)) return violated;
  if (!shape.cooperative) return std::nullopt;
  if (!limits.cooperative_launch) return "this device has no cooperative launches";
  const std::int64_t warps = (threads + limits.warp_size - 1) / limits.warp_size;
  const std::int64_t by_threads = limits.max_threads_per_sm / limits.warp_size / warps;
  return not_resident(shape, std::min<std::int64_t>(by_threads, limits.max_blocks_per_sm) * limits.sm_count, limits);
}

std::optional<std::string> violated_by_kernel(const LaunchShape& shape, int registers, std::int64_t static_shared_bytes,
                                              const DeviceLimits& limits) {
  const std::int64_t threads = shape.threads_per_block();
  const std::int64_t warps = round_up(round_up(threads, limits.warp_size) / limits.warp_size, sub_partitions(limits));
  const std::int64_t all = warps * round_up(std::int64_t{registers} * limits.warp_size, register_unit(limits));
  if (all > limits.registers_per_block)
    return std::to_string(registers) + " registers a thread in blocks of " + std::to_string(threads) + " threads are " +
           std::to_string(all) + ", more than the " + std::to_string(limits.registers_per_block) + " of a block";
  const std::int64_t shared = static_shared_bytes + shape.shared_bytes;
  if (shared <= limits.max_shared_bytes) return std::nullopt;
  return std::to_string(shared) + " bytes of shared memory (" + std::to_string(static_shared_bytes) + " static, " +
         std::to_string(shape.shared_bytes) + " dynamic) exceed the " + std::to_string(limits.max_shared_bytes) +
         " of a block";
}

std::optional<std::string> not_resident(const LaunchShape& shape, std::int64_t resident, const DeviceLimits& limits) {
  if (!shape.cooperative || shape.blocks() <= resident) return std::nullopt;
  const std::string holds = resident % limits.sm_count != 0 ? "the device holds " + std::to_string(resident)
                                                            : std::to_string(resident / limits.sm_count) +
                                                                  " on each of " + std::to_string(limits.sm_count) +
                                                                  " multiprocessors are " + std::to_string(resident);
  return "a cooperative grid of " + std::to_string(shape.blocks()) + " blocks of " +
         std::to_string(shape.threads_per_block()) + " threads is not resident at once: " + holds;
}

std::optional<std::string> adopt_cluster(LaunchShape& shape, const std::array<std::int64_t, 3>& compiled) {
  if (compiled[0] == 0) return std::nullopt;
  if (shape.blocks_per_cluster() != 1 && shape.cluster != compiled)
    return "the launch has a cluster of " + joined(shape.cluster) + ", and its kernel is compiled for one of " +
           joined(compiled) + " (__cluster_dims__): make them equal, or remove one";
  shape.cluster = compiled;
  return violated_by_cluster(shape);
}

std::string_view name(OccupancyLimiter limiter) {
  constexpr std::string_view names[] = {"threads", "blocks", "registers", "shared memory"};
  return names[static_cast<std::size_t>(limiter)];
}

Occupancy occupancy(const DeviceLimits& limits, std::int64_t threads_per_block, int registers,
                    std::int64_t shared_bytes) {
  Occupancy result;
  if (threads_per_block < 1 || threads_per_block > limits.max_threads_per_block) return result;
  const std::int64_t warps = round_up(threads_per_block, limits.warp_size) / limits.warp_size;
  const std::int64_t max_warps = limits.max_threads_per_sm / limits.warp_size;
  const std::array<std::int64_t, 4> blocks{max_warps / warps, limits.max_blocks_per_sm,
                                           by_registers(limits, warps, registers),
                                           by_shared_memory(limits, shared_bytes)};
  std::size_t tightest = 0;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (blocks[i] < blocks[tightest]) tightest = i;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i)
    result.blocks_by[i] = static_cast<int>(std::min(blocks[i], kUnlimited));
  result.blocks_per_sm = static_cast<int>(blocks[tightest]);
  result.fraction = static_cast<double>(blocks[tightest] * warps) / static_cast<double>(max_warps);
  result.limiter = static_cast<OccupancyLimiter>(tightest);
  return result;
}

std::vector<int> best_block_sizes(const DeviceLimits& limits, int registers, std::int64_t shared_bytes) {
  std::vector<int> best;
  double highest = 0;
  for (int threads = limits.warp_size; threads <= limits.max_threads_per_block; threads += limits.warp_size) {
    const double fraction = occupancy(limits, threads, registers, shared_bytes).fraction;
    if (fraction > highest) best.clear();
    highest = std::max(highest, fraction);
    if (fraction == highest && highest > 0) best.push_back(threads);
  }
  return best;
}

}  // namespace tuner
