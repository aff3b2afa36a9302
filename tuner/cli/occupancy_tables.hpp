#pragma once
/// What an occupancy calculator shows, as text: how occupancy depends on block size, registers and shared memory, and
/// the limits of every architecture. Pure arithmetic, without kernel, compiler or GPU.

#include <string>

#include <tuner/cli/occupancy_curves.hpp>
#include <tuner/cli/table.hpp>

namespace tuner::cli {

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
