#pragma once
/// The resources of a compiled configuration before it is loaded: registers and spills from the compiler's log, and the
/// occupancy computed from them.

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/occupancy.hpp>

namespace tuner {

/// The worse of the two values for each member.
Resources worst(const Resources& a, const Resources& b);

/// The worst resources of the launches of \p configuration on \p size. If the compiler reports none (that of the host
/// backend), all members are 0. Precondition: why_invalid() finds no reason, and \p image has its launch_expressions().
Resources compiled_resources(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                             const Configuration& configuration, const Image& image);

}  // namespace tuner
