#pragma once
/// Makes plans: works out the problem from a call's arguments, finds the configuration (wisdom, tuning on a miss, the
/// kernel's default), compiles, loads, and binds every kernel parameter to its source.

#include <memory>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/runtime/plan.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner::runtime {

/// One call as the planner sees it.
struct Call {
  const KernelSpec& spec;
  const Choices& choices;  ///< made with Kernel::with()
  PlanKey key;
  const detail::LaunchArgument* arguments;
  std::size_t count;
  Stream stream;
};

/// The problem that \p call poses: its sizes, the choices made, and the types of its pointers. Throws Error for a
/// wrong number of sizes or arguments, or pointers whose types contradict each other or the kernel.
ProblemSize problem_of(const Call& call);

/// What a launch will use, and how it was found, one sentence.
struct Decision {
  Configuration configuration;
  std::string reason;
};
/// Tunes on a miss when the settings and \p may_tune allow it. Never throws for a miss; throws Error when the kernel
/// has no valid configuration for \p size at all.
Decision decide_configuration(Serving& serving, ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                              bool may_tune);

/// Throws Error; nothing is launched. While call.stream records a CUDA graph it always throws: prepare() comes before.
std::unique_ptr<Plan> make_plan(Serving& serving, ServedDevice& device, const Call& call);

/// Throws Error when a pointer of \p call is not memory that \p device can use.
void require_device_pointers(const ServedDevice& device, const Call& call);

}  // namespace tuner::runtime
