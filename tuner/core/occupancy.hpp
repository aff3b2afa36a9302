#pragma once
/// Theoretical occupancy: how many blocks of a kernel one multiprocessor holds at a time, and what limits it. Plain
/// arithmetic over DeviceLimits, for any architecture and without a GPU. Allocation rules: registers are given to
/// warps in units of 256 in each of four sub-partitions, shared memory to blocks in units of 128 bytes (256 before
/// compute capability 8.0) with what the system reserves. Agrees with cuOccupancyMaxActiveBlocksPerMultiprocessor.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tuner/core/device.hpp>

namespace tuner {

enum class OccupancyLimiter { threads, blocks, registers, shared_memory };
/// "threads", "blocks", "registers", "shared memory".
std::string_view name(OccupancyLimiter limiter);

struct Occupancy {
  int blocks_per_sm = 0;                                 ///< 0: a block cannot run at all, because of \p limiter
  double fraction = 0;                                   ///< resident warps / maximum warps, 0..1
  OccupancyLimiter limiter = OccupancyLimiter::threads;  ///< the first of the tightest
  /// Blocks that each limiter by itself admits, in the order of OccupancyLimiter; the largest int where it limits
  /// nothing.
  std::array<int, 4> blocks_by{};
};

/// \p registers per thread; \p shared_bytes static and dynamic, per block; more than the default limit counts as
/// opted in.
Occupancy occupancy(const DeviceLimits& limits, std::int64_t threads_per_block, int registers,
                    std::int64_t shared_bytes);

/// Whole warps a block that give the highest occupancy with the same registers and shared memory, ascending, in
/// threads; none where no block can run.
std::vector<int> best_block_sizes(const DeviceLimits& limits, int registers, std::int64_t shared_bytes);

}  // namespace tuner
