#pragma once
/// A rough time of each configuration from what a kernel file says anyway: launches, `bytes`, `flops` and `in_flight`.
/// It is for the order of the first trials; docs/search.md ("Estimates") has the reasons for its terms. Private to this
/// room.

#include <optional>

namespace tuner {

class Bindings;
struct DeviceLimits;
struct KernelSpec;
struct ProblemSize;
struct Resources;

class LaunchModel {
 public:
  /// All must outlive this.
  LaunchModel(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);

  /// False on a CPU, for kernels that launch kernels, and for problems that take no longer than a launch.
  bool applies() const { return applies_; }
  /// Cycles of one multiprocessor; nullopt if nothing is launched. \p values: bindings() of a configuration. \p
  /// compiled: what the compiler reports, if it is known. Throws EvaluationError. Precondition: applies().
  std::optional<double> cycles(const Bindings& values, const Resources* compiled = nullptr) const;

 private:
  const KernelSpec& spec_;
  const DeviceLimits& limits_;
  double bytes_ = 0;    // least traffic
  double flops_ = 0;    // least arithmetic
  double outputs_ = 0;  // numbers in all outputs
  bool applies_ = false;
};

}  // namespace tuner
