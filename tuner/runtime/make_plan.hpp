#pragma once
/// Makes the plan of a size class: which conditions its sizes must meet, what launches depend on them, how much work
/// space is enough for all.

#include <memory>

#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/plan.hpp>
#include <tuner/runtime/served_device.hpp>

namespace tuner::runtime {

/// What make_plan() compiles for \p size, which \p configuration is valid for.
CompileRequest served_request(const ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                              const Configuration& configuration);

/// The plan of \p configuration, which is valid for \p bound, for as many sizes of its class as it is valid for.
/// Compiles and loads. Throws Error.
std::unique_ptr<Plan> make_plan(ServedDevice& device, const KernelSpec& spec, const BoundCall& bound,
                                const Configuration& configuration);

}  // namespace tuner::runtime
