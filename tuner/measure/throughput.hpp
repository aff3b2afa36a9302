#pragma once
/// What a time means: bytes/s, flops/s and the fraction of what the device was seen to stream.

#include <optional>
#include <string_view>

#include <tuner/core/device.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// Operations for each byte from which on arithmetic says more about a kernel than memory does: about where GPUs stop
/// being bound by memory (the ridge of the roofline: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009).
constexpr double kRidge = 8;

struct Throughput {
  std::optional<double> bytes_per_second;  ///< least traffic of one run / time
  std::optional<double> flops_per_second;
  /// Of the rate at which the device was seen to stream what the kernel's least traffic is made of.
  std::optional<double> ceiling_fraction;
  std::optional<double> ceiling_rate;  ///< that rate, bytes/s
  double written = 0.5;                ///< part of the traffic that is writes
  std::string_view ceiling;            ///< "reads", "copy", "writes", or "mix": part of it a copy

  /// Whether the arithmetic rate says more about the kernel than its share of the ceiling. A property of the problem,
  /// not of the time.
  bool arithmetic_leads() const {
    return flops_per_second && (!bytes_per_second || *flops_per_second > kRidge * *bytes_per_second);
  }
};

/// Of one run of \p spec on \p size in \p ns. The ceiling goes by the share of the traffic that outputs are, to a
/// hundredth (Ceilings::of_mix; two reads and a write are a third). Absent: not given in the spec, or not measured on
/// the device.
Throughput throughput(const KernelSpec& spec, const ProblemSize& size, const Device& device, double ns);

}  // namespace tuner
