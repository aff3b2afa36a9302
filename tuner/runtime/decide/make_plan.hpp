#pragma once
/// Makes the plan of a configuration for a size class: conditions on sizes, launches that depend on sizes, and enough
/// work space for all.

#include <memory>

#include <tuner/runtime/call/call.hpp>
#include <tuner/runtime/call/plan.hpp>
#include <tuner/runtime/decide/served_device.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::runtime {

/// The request that make_plan() compiles. \p configuration must be valid for \p size.
CompileRequest served_request(const ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                              const Configuration& configuration);

/// The plan of \p configuration, which must be valid for \p bound. It serves all sizes of the class for which the
/// configuration is valid, where possible. Compiles and loads. Throws Error.
std::unique_ptr<Plan> make_plan(ServedDevice& device, const KernelSpec& spec, const BoundCall& bound,
                                const Configuration& configuration);

/// Throws Error if no call can serve \p spec.
void require_servable(const KernelSpec& spec);

}  // namespace tuner::runtime
