#pragma once
/// Converts a time to bytes/s, flops/s, and the fraction of the device's measured bandwidth.

#include <optional>
#include <string_view>

#include <tuner/core/device/device.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

/// From this number of operations for each byte, a kernel's arithmetic rate says more than its bandwidth. At about this
/// number, GPUs stop being bound by memory (the ridge of Williams, Waterman and Patterson, "Roofline", CACM 52(4),
/// 2009).
constexpr double kRidge = 8;

struct Throughput {
  std::optional<double> bytes_per_second;  ///< least traffic of one run / time
  std::optional<double> flops_per_second;
  /// bytes_per_second / ceiling_rate.
  std::optional<double> ceiling_fraction;
  std::optional<double> ceiling_rate;  ///< the device's measured rate for such a mix of reads and writes, bytes/s
  double written = 0.5;                ///< part of the traffic that is writes
  std::string_view ceiling;            ///< "reads", "copy", "writes", or "mix" for any other mix

  /// Whether the arithmetic rate says more about the kernel than its share of the ceiling. Depends on the problem, not
  /// on the time.
  bool arithmetic_leads() const {
    return flops_per_second && (!bytes_per_second || *flops_per_second > kRidge * *bytes_per_second);
  }
};

/// The rates of one run of \p spec on \p size that took \p ns. The ceiling depends on the outputs' share of the traffic
/// (see Ceilings::of_mix): for two reads and a write, it is a third. A rate is nullopt if the spec does not give it, or
/// if it was not measured on the device.
Throughput throughput(const KernelSpec& spec, const ProblemSize& size, const Device& device, double ns);

}  // namespace tuner
