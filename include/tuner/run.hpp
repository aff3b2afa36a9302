#pragma once
/// Runs one configuration from code, like `tune run`. C++17.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tuner/kernel.hpp>
#include <tuner/problem.hpp>
#include <tuner/use.hpp>

namespace tuner {
inline namespace TUNER_ABI {

struct RunOptions {
  /// `block_x=32 block_y=16`; other parameters have the value that a launch would use.
  std::string configuration;
  /// Compare with the kernel's reference, if it has one: on this problem and those of `verify` lines. Problems of
  /// tuner's own choice are left out on a GPU, because they may fault in this process.
  bool verify = true;
  /// How the program uses the kernel. Throws Error for Use::stream and Use::graph on the host, which has neither.
  Use use = Use::single;
  /// Hardware counters and energy, collected after timing: see TuneOptions::metrics.
  std::vector<std::string> metrics = {};
};

/// One launch of the configuration; they are listed in order.
struct RunLaunch {
  std::string expression;               ///< C++ name expression: `sumMatrix2D<float, 32, 16>`
  std::array<std::int64_t, 3> grid{};   ///< blocks
  std::array<std::int64_t, 3> block{};  ///< threads
  std::int64_t shared_bytes = 0;        ///< per block, static and dynamic

  int registers = 0, spill_bytes = 0;  ///< per thread; 0 on the host backend
  double occupancy = 0;                ///< theoretical, 0..1; 0 on the host backend
  std::string limited_by;              ///< what limits the occupancy: "registers", "threads", …

  std::array<std::int64_t, 3> cluster{1, 1, 1};  ///< blocks of a cluster; one: no cluster
  bool dependent = false;                        ///< may begin before the launch before it has ended
};

struct RunResult {
  std::string configuration;  ///< canonical text
  std::vector<RunLaunch> launches;
  double median_ns = 0;            ///< one run, all launches together
  double low_ns = 0, high_ns = 0;  ///< 95% confidence interval of the median
  bool verified = false;
  std::string limit;   ///< what limits the run: "device memory", "latency", …
  std::string reason;  ///< one sentence with the numbers for it
  /// The metrics in RunOptions::metrics, in the units that `tune devices --metrics` lists.
  std::map<std::string, double> metrics;
};

/// Compiles, verifies and times one configuration of \p kernel for \p sizes (in elements) and \p choices. Runs in this
/// process, on the device of this thread's launches, with its own buffers. Stores nothing. Throws Error, with the
/// reason, when the configuration cannot run, does not compile, faults or gives wrong results.
RunResult run(const Kernel& kernel, const Sizes& sizes, const Choices& choices = {}, const RunOptions& options = {});

}  // namespace TUNER_ABI
}  // namespace tuner
