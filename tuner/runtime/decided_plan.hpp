#pragma once
/// From a call to its plan: which configuration serves it (decide), worked out for its size class (make_plan).

#include <memory>

#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/make_plan.hpp>

namespace tuner::runtime {

struct DecidedPlan {
  Decision decision;
  std::unique_ptr<Plan> plan;
};

/// The plan of what is decided for \p bound, tuned where that may be. A measured configuration that does not compile or
/// load is passed over, with a warning, for the next best and in the end for the kernel's default. From a frozen
/// database it is an error: other processes may have been served with it. Throws Error.
DecidedPlan decided_plan(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec,
                         const BoundCall& bound);

/// What decided_plan() decides for \p size of the classes that begin with \p lowest, as far as is known without tuning,
/// compiling and loading. Throws Error.
Decision foreseen(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                  const ProblemSize& lowest);

}  // namespace tuner::runtime
