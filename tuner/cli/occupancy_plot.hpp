#pragma once
/// Occupancy curves as a picture, like those of an occupancy calculator.

#include <string>
#include <vector>

#include <tuner/cli/occupancy_tables.hpp>

namespace tuner::cli {

/// One row of a picture.
struct OccupancySubject {
  std::string title;
  BlockNeed need;
};

/// An SVG document: for each of \p subjects the resident warps of a multiprocessor by block size, by registers and by
/// shared memory, with a mark at its need. \p heading is above all.
std::string occupancy_plot(const DeviceLimits& limits, const std::string& heading,
                           const std::vector<OccupancySubject>& subjects);

}  // namespace tuner::cli
