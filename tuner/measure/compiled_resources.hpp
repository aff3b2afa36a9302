#pragma once
/// What a compiled configuration will need, told before it is loaded anywhere: registers and spills from the compiler's
/// log, occupancy by calculation.

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/occupancy.hpp>

namespace tuner {

/// For each member the worse of the two: what limits a kernel that has several launches.
Resources worst(const Resources& a, const Resources& b);

/// The worst over the launches of \p configuration on \p size. Of a backend whose compiler tells nothing (the host's)
/// all members are 0. Precondition: why_invalid() has nothing against it, and \p image holds its launch_expressions().
Resources compiled_resources(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                             const Configuration& configuration, const Image& image);

}  // namespace tuner
