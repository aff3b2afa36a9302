#pragma once
/// Theoretical occupancy: how many blocks of a kernel one multiprocessor holds at a time, and what limits that number.
/// Plain arithmetic over DeviceLimits, for any architecture and without a GPU. Agrees with
/// cuOccupancyMaxActiveBlocksPerMultiprocessor.
///
/// Allocation rules: each of four sub-partitions gives registers to its warps in units of 256. Blocks get shared
/// memory, including what the system reserves, in units of 128 bytes (256 before compute capability 8.0). Fermi (2.x)
/// has two sub-partitions and units of 64 registers and 128 bytes.

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
  int blocks_per_sm = 0;                                 ///< 0: no block can run, because of \p limiter
  double fraction = 0;                                   ///< resident warps / maximum warps, 0..1
  OccupancyLimiter limiter = OccupancyLimiter::threads;  ///< the tightest; the first one if several are equal

  /// The number of blocks that each limiter alone allows, in the order of OccupancyLimiter; the largest int if it sets
  /// no limit.
  std::array<int, 4> blocks_by{};
};

/// \p registers: per thread. \p shared_bytes: static and dynamic, per block; above the default limit, the kernel is
/// taken to have opted in.
Occupancy occupancy(const DeviceLimits& limits, std::int64_t threads_per_block, int registers,
                    std::int64_t shared_bytes);

/// The block sizes, in threads, with the highest occupancy for these registers and shared memory. Ascending multiples
/// of a warp; empty if no block can run.
std::vector<int> best_block_sizes(const DeviceLimits& limits, int registers, std::int64_t shared_bytes);

}  // namespace tuner
