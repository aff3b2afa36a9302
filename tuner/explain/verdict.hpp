#pragma once
/// Finds what limits a configuration, with numbers: measured ceilings of the device, Little's law, waves, and hardware
/// counters if there are any. Pure functions of measured values; no device is used.
///
/// Sources: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009. Little, "A proof for the queuing formula
/// L = lambda W", Operations Research 9(3), 1961, applied to bytes in flight as in Volkov, "Better performance at lower
/// occupancy", GTC 2010. CUDA C++ Best Practices Guide, "Execution Configuration Optimizations".

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/device/device.hpp>
#include <tuner/measure/compiled_resources.hpp>

namespace tuner {

/// All inputs of the verdict.
struct VerdictInput {
  double ns = 0;                ///< one run, all launches together.
  bool cold = true;             ///< L2 is flushed before every sample.
  std::optional<double> bytes;  ///< least traffic of one run.
  std::optional<double> flops;
  std::optional<double> thread_bytes;  ///< that a thread requests before it needs the first; nullopt: not known.
  std::vector<LaunchDetail> launches;  ///< the timed ones.
  bool is_best = false;    ///< the best of a search gets no advice on the sizes of grid and block: others were tried.
  Device device;           ///< with its measured peaks and latencies.
  double memory_rate = 0;  ///< bytes/s of the device for the kernel's mix of reads and writes; 0: not measured.
  double arithmetic_rate = 0;             ///< operations/s of the device for the kernel's kind; 0: not measured.
  std::map<std::string, double> metrics;  ///< named as the chip or the textbooks do; percentages from 0 to 100

  const DeviceLimits& limits() const { return device.limits; }
};

enum class Limit { dram, l2, shared_memory, arithmetic, issue, latency, launch, unknown };
/// "device memory", "L2 cache", "shared memory", "arithmetic", "instruction issue", "latency", "launch", "unknown".
std::string_view name(Limit limit);

struct Verdict {
  Limit limit = Limit::unknown;
  std::string reason;    ///< one sentence with numbers
  bool counted = false;  ///< counters took part; false: only the model
  double busiest = 0;    ///< share of its ceiling that the limit reached, 0..1; 0 without a limit

  std::vector<std::string> numbers;  ///< facts with their numbers: bytes in flight, waves, …
  std::vector<std::string> remarks;  ///< violated guidelines, one sentence each
};

Verdict explain(const VerdictInput& input);

/// The waves of blocks of one launch, and how much of the last wave is idle.
struct Waves {
  double count = 0;      ///< blocks / (resident blocks of the device)
  double idle_last = 0;  ///< 0..1
};
Waves waves(std::int64_t blocks, int blocks_per_sm, int sm_count);

/// Warps that one multiprocessor needs so that its lanes always have an instruction, if each needs the result of the
/// one before: Little's law again, with the clocks of a multiply-add. 0: its lanes are not known.
double warps_for_arithmetic(const DeviceLimits& limits);

/// Bytes that must be in flight to sustain \p rate (bytes/s) at \p latency_ns: Little's law.
double bytes_in_flight(double rate, double latency_ns);

}  // namespace tuner
