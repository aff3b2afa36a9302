#pragma once
/// The verdict on a measured configuration of a kernel: gathers what explain() is given.

#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/explain/verdict.hpp>
#include <tuner/measure/single_run.hpp>

namespace tuner {

/// Multiply-adds/s, each two operations, that \p device reached in the type that \p spec computes in: that of its first
/// output. 0 for types that were not measured.
double arithmetic_peak(const KernelSpec& spec, const ProblemSize& size, const Device& device);

/// \p device: with its ceilings and peaks, as far as they were measured. \p launches: as SingleRun tells them.
Verdict explain(const KernelSpec& spec, const ProblemSize& size, const Device& device, const Measurement& measured,
                const std::vector<LaunchDetail>& launches);
/// The same for a trial of a tuning, which remembers the worst launch's resources only. Precondition: it was measured.
Verdict explain(const KernelSpec& spec, const ProblemSize& size, const Device& device, const Trial& trial);

}  // namespace tuner
