#pragma once
/// A device that runs kernels: its identity (DeviceKey, the key of all wisdom), its limits (constraints of every
/// kernel) and its software (Environment; a change makes wisdom stale).

#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <string>

namespace tuner {

/// Identifies silicon, not a product name: two boards with equal keys share their wisdom.
struct DeviceKey {
  std::string backend;         ///< "cuda" or "host"
  int compute_capability = 0;  ///< 90 for 9.0; 0 for the host
  int sm_count = 0;            ///< multiprocessors; CPU cores for the host
  std::int64_t l2_bytes = 0;   ///< last-level cache for the host
  int memory_bus_bits = 0;
  std::int64_t max_shared_bytes = 0;  ///< opt-in shared memory per block
  int registers_per_sm = 0;
  std::string cpu;  ///< CPU model name; empty for a GPU

  /// `cuda cc=9.0 sm=132 l2=62914560 bus=6144 smem=232448 regs=65536`; equal keys have equal text.
  std::string text() const {
    if (backend == "host") return "host cpu=" + cpu + " cores=" + std::to_string(sm_count);
    return backend + " cc=" + std::to_string(compute_capability / 10) + '.' + std::to_string(compute_capability % 10) +
           " sm=" + std::to_string(sm_count) + " l2=" + std::to_string(l2_bytes) +
           " bus=" + std::to_string(memory_bus_bits) + " smem=" + std::to_string(max_shared_bytes) +
           " regs=" + std::to_string(registers_per_sm);
  }
  friend bool operator==(const DeviceKey&, const DeviceKey&) = default;
  friend auto operator<=>(const DeviceKey&, const DeviceKey&) = default;
};

/// Limits that every launch must meet; CUDA C++ Programming Guide, "Compute Capabilities", technical specifications.
struct DeviceLimits {
  int warp_size = 32;
  int sm_count = 1;
  int max_threads_per_block = 1024;
  std::array<std::int64_t, 3> max_block{1024, 1024, 64};
  std::array<std::int64_t, 3> max_grid{2147483647, 65535, 65535};
  std::int64_t shared_bytes_per_block = 49152;  ///< without opting in
  std::int64_t max_shared_bytes = 49152;        ///< opt-in limit per block
  std::int64_t shared_bytes_per_sm = 65536;
  std::int64_t reserved_shared_bytes = 0;  ///< taken by the system from each block (1 KB since cc 8.0)
  int registers_per_block = 65536;
  int registers_per_sm = 65536;
  int max_registers_per_thread = 255;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int fp32_lanes_per_sm = 0;       ///< 0: not known
  bool cooperative_launch = true;  ///< can run all blocks of a grid at once, so that they can wait for each other
  int compute_capability = 0;
};

/// When this software changes, stored wisdom becomes stale: it is still served, but marked.
struct Environment {
  std::string driver;    ///< CUDA driver version, "13.0"; kernel release for the host
  std::string compiler;  ///< "nvrtc 13.0", "g++ 12.2.0"
};

/// The highest measured rates and shortest measured times of a device, besides streaming; 0: not measured.
struct DevicePeaks {
  double fp32 = 0, fp64 = 0, integer = 0;  ///< operations/s in multiply-adds, each of which is two

  double latency_ns = 0;  ///< of one load from device memory
  double launch_ns = 0;   ///< of an empty kernel with cold caches, measured like a sample
  double block_ns = 0;    ///< for each block of 128 threads of an empty kernel

  /// The floor of a single launch that took \p ns: launch_ns, if it is more than a fifth of that; else 0.
  double floor_of(double ns) const { return ns < 5 * launch_ns ? launch_ns : 0; }
};

/// The highest measured streaming rates of a device, bytes/s, reads and writes together; 0: not measured.
struct Ceilings {
  double read = 0;   ///< reads only
  double copy = 0;   ///< half of the bytes read, half written
  double write = 0;  ///< writes only

  /// The time of one load, in ns, with the fewest loads in flight by which reads reach 90% of `read`: longer than that
  /// of a load alone. 0: not measured.
  double loaded_latency_ns = 0;

  /// The ceiling for traffic of which the share \p written (0..1) is writes. As much of it as possible counts as a
  /// copy, the rest as reads or writes alone. 0 if a rate that this needs was not measured.
  double of_mix(double written) const {
    const double alone = std::abs(1 - 2 * written), copied = 1 - alone;
    double seconds = 0;  // for one byte; infinite if a rate is 0
    if (alone > 0) seconds += alone / (written < 0.5 ? read : write);
    if (copied > 0) seconds += copied / copy;
    return 1 / seconds;
  }
};

struct Device {
  DeviceKey key;
  DeviceLimits limits;
  Environment environment;
  std::string name;  ///< marketing name; only shown
  int index = 0;     ///< ordinal on this machine
  Ceilings ceilings;
  DevicePeaks peaks;
};

}  // namespace tuner
