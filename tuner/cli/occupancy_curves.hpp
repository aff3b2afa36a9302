#pragma once
/// Occupancy as a function of one resource. Pure arithmetic, without kernel, compiler or GPU.

#include <cstdint>
#include <vector>

#include <tuner/core/device.hpp>
#include <tuner/core/occupancy.hpp>

namespace tuner::cli {

/// What one block asks of a multiprocessor.
struct BlockNeed {
  std::int64_t threads = 0;
  int registers = 0;              ///< a thread
  std::int64_t shared_bytes = 0;  ///< a block, static and dynamic
};

Occupancy occupancy_of(const DeviceLimits& limits, const BlockNeed& need);

/// Amounts of one resource that give the same occupancy, limited by the same.
struct OccupancyStep {
  std::int64_t first = 0, last = 0;
  Occupancy occupancy;
};

/// Of whole warps, registers a thread and bytes of shared memory a block, up to what one block may have, ascending;
/// what is not varied is as \p need has it.
std::vector<OccupancyStep> by_threads(const DeviceLimits& limits, const BlockNeed& need);
std::vector<OccupancyStep> by_registers(const DeviceLimits& limits, const BlockNeed& need);
std::vector<OccupancyStep> by_shared_bytes(const DeviceLimits& limits, const BlockNeed& need);

}  // namespace tuner::cli
