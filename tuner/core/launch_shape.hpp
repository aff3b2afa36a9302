#pragma once
/// Grid, block and dynamic shared memory of one launch, and whether its blocks may wait for each other.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <tuner/core/device.hpp>

namespace tuner {

struct LaunchShape {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;  ///< dynamic shared memory per block
  bool cooperative = false;       ///< its blocks may wait for each other, so all must be resident at once

  std::int64_t threads_per_block() const { return block[0] * block[1] * block[2]; }
  std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// Why \p shape cannot be launched on a device with \p limits, e.g. "block of 256x8x1 = 2048 threads exceeds the
/// limit of 1024 threads per block"; nothing if it can. A cooperative launch also depends on its kernel: see
/// not_resident().
std::optional<std::string> violated_limit(const LaunchShape& shape, const DeviceLimits& limits);

/// Why the blocks of a cooperative \p shape cannot all be resident; nothing if they can, or if \p shape is not
/// cooperative. A multiprocessor holds \p blocks_per_sm of them.
std::optional<std::string> not_resident(const LaunchShape& shape, std::int64_t blocks_per_sm,
                                        const DeviceLimits& limits);

}  // namespace tuner
