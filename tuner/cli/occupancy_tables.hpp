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

/// Amounts of one resource that give the same occupancy with the same limit.
struct OccupancyStep {
  std::int64_t first = 0, last = 0;
  Occupancy occupancy;
};

/// Occupancy by threads of a block (whole warps), by registers of a thread and by bytes of shared memory of a block, up
/// to what one block may have, ascending. The other resources are those of \p need.
std::vector<OccupancyStep> by_threads(const DeviceLimits& limits, const BlockNeed& need);
std::vector<OccupancyStep> by_registers(const DeviceLimits& limits, const BlockNeed& need);
std::vector<OccupancyStep> by_shared_bytes(const DeviceLimits& limits, const BlockNeed& need);

/// Resident blocks, warps and occupancy, and the blocks that each limit alone would admit: a name and a text in each
/// line.
std::string occupancy_facts(const DeviceLimits& limits, const BlockNeed& need);
/// The same three as tables. Several amounts with the same result are one line.
std::string occupancy_tables(const DeviceLimits& limits, const BlockNeed& need);
/// The numbers of both.
Json occupancy_json(const DeviceLimits& limits, const BlockNeed& need);
/// Limits of every known architecture, a row each.
Table architectures_table();

}  // namespace tuner::cli
