#pragma once
/// Grid, block, dynamic shared memory and attributes of one launch, and how many of its blocks a multiprocessor holds.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/device/device.hpp>

namespace tuner {

struct LaunchShape {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;  ///< dynamic shared memory per block
  bool cooperative = false;       ///< Its blocks may wait for each other, so all must be resident at once.
  bool dependent = false;         ///< may overlap the launch before it, and waits for its results itself
  /// Blocks of a cluster: they run at the same time, and each may access the shared memory of the others. One block: no
  /// cluster.
  std::array<std::int64_t, 3> cluster{1, 1, 1};
  /// The preferred share of shared memory in the memory that it has together with the L1 cache, in percent;
  /// kNoCarveout: the driver chooses.
  std::int64_t carveout = kNoCarveout;
  static constexpr std::int64_t kNoCarveout = -1;

  /// Whether a launch needs more than grid, block, shared memory and `cooperative`.
  bool has_attributes() const { return dependent || carveout != kNoCarveout || blocks_per_cluster() != 1; }
  std::int64_t blocks_per_cluster() const { return cluster[0] * cluster[1] * cluster[2]; }
  std::int64_t threads_per_block() const { return block[0] * block[1] * block[2]; }
  std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// Why \p shape cannot be launched on a device with \p limits, e.g. "block of 256x8x1 = 2048 threads exceeds the
/// limit of 1024 threads per block"; nothing if it can. A cooperative launch also depends on its kernel: see
/// not_resident(), and so does one with a cluster: see adopt_cluster().
std::optional<std::string> violated_limit(const LaunchShape& shape, const DeviceLimits& limits);

/// Why no block of \p shape fits on a multiprocessor, for a kernel of \p registers a thread (0: unknown) and \p
/// static_shared_bytes a block; nothing if one does.
std::optional<std::string> violated_by_kernel(const LaunchShape& shape, int registers, std::int64_t static_shared_bytes,
                                              const DeviceLimits& limits);

/// Why the blocks of a cooperative \p shape cannot all be resident; nothing if they can, or if \p shape is not
/// cooperative. The device holds \p resident of them.
std::optional<std::string> not_resident(const LaunchShape& shape, std::int64_t resident, const DeviceLimits& limits);

/// The largest cluster of any device; more than kPortableCluster blocks only on some.
inline constexpr std::int64_t kMaxCluster = 16;
inline constexpr std::int64_t kPortableCluster = 8;

/// Gives \p shape the cluster that is compiled into its kernel (`__cluster_dims__`); all 0: there is none. Returns why
/// the two contradict each other, or why the grid does not consist of such clusters; nothing if all is well.
std::optional<std::string> adopt_cluster(LaunchShape& shape, const std::array<std::int64_t, 3>& compiled);

enum class OccupancyLimiter { threads, blocks, registers, shared_memory };
/// "threads", "blocks", "registers", "shared memory".
std::string_view name(OccupancyLimiter limiter);

/// Theoretical occupancy: how many blocks of a kernel one multiprocessor holds at a time, and what limits that number.
/// Plain arithmetic over DeviceLimits, for any architecture and without a GPU. Agrees with
/// cuOccupancyMaxActiveBlocksPerMultiprocessor.
///
/// Allocation rules: each of four sub-partitions gives registers to its warps in units of 256. Blocks get shared
/// memory, including what the system reserves, in units of 128 bytes (256 before compute capability 8.0). Fermi (2.x)
/// has two sub-partitions and units of 64 registers and 128 bytes.
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
