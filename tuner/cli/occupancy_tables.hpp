#pragma once
/// The curves and the text of an occupancy calculator: how occupancy depends on block size, registers and shared
/// memory, and the limits of every architecture. Pure arithmetic, without kernel, compiler or GPU.

#include <cstdint>
#include <string>
#include <vector>

#include <tuner/cli/table.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/occupancy.hpp>

namespace tuner::cli {

/// The demands of one block on a multiprocessor.
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

/// Resident blocks, warps and occupancy, and what each limit by itself would admit, name and text a line.
std::string occupancy_facts(const DeviceLimits& limits, const BlockNeed& need);
/// Occupancy by block size, by registers and by shared memory, what is not varied as \p need has it. Where several
/// amounts give the same they are one line.
std::string occupancy_tables(const DeviceLimits& limits, const BlockNeed& need);
/// Of both the numbers.
Json occupancy_json(const DeviceLimits& limits, const BlockNeed& need);
/// Limits of every known architecture, a row each.
Table architectures_table();

}  // namespace tuner::cli
