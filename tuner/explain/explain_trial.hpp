#pragma once
/// The verdict on a measured configuration of a kernel: collects the input of explain().

#include <vector>

#include <tuner/core/result/outcome.hpp>
#include <tuner/explain/verdict.hpp>

namespace tuner {

struct KernelSpec;

/// Operations/s (a multiply-add is two) that \p device reached in the element type of the first output of \p spec. 0
/// for types that were not measured.
double arithmetic_peak(const KernelSpec& spec, const ProblemSize& size, const Device& device);

/// \p device: with the ceilings and peaks that were measured. \p launches: as SingleRun reports them. \p is_best: of a
/// tuning for this problem.
Verdict explain(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                const Configuration& configuration, const Measurement& measured,
                const std::vector<LaunchDetail>& launches, bool is_best);
/// The same for the best trial of a tuning, which stores only its MainResources. Precondition: it was measured.
Verdict explain(const KernelSpec& spec, const ProblemSize& size, const Device& device, const Trial& trial);

}  // namespace tuner
