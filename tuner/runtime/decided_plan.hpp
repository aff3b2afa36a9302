#pragma once
/// Makes the plan of a call: chooses a configuration (decide) and makes its plan for the size class (make_plan).

#include <memory>

#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/make_plan.hpp>

namespace tuner::runtime {

struct DecidedPlan {
  Decision decision;
  std::unique_ptr<Plan> plan;
};

/// The plan for \p bound; tunes if allowed. If a measured configuration does not compile or load, the next best one is
/// used, with a warning, and finally the kernel's default. With a frozen database this throws Error instead, because
/// other processes may use that configuration.
DecidedPlan decided_plan(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec,
                         const BoundCall& bound);

/// The decision that decided_plan() would make for \p size and the classes that begin with \p lowest, as far as it is
/// known without tuning, compiling and loading. Throws Error.
Decision foreseen(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                  const ProblemSize& lowest);

}  // namespace tuner::runtime
