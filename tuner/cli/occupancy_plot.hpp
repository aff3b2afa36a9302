#pragma once
/// Occupancy curves as a picture: what the sheets of an occupancy calculator draw.

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
/// shared memory, its own need marked. \p heading stands above all.
std::string occupancy_plot(const DeviceLimits& limits, const std::string& heading,
                           const std::vector<OccupancySubject>& subjects);

}  // namespace tuner::cli
