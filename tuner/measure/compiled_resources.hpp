#pragma once
/// The resources of a compiled configuration before it is loaded: registers and spills from the compiler's log, and the
/// occupancy computed from them.

#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/occupancy.hpp>

namespace tuner {

/// One launch of a configuration and its resources.
struct LaunchDetail {
  std::string expression;  ///< C++ name expression: `sumMatrix2D<float, 32, 8>`
  LaunchShape shape;
  bool timed = true;
  Resources resources;                 ///< with occupancy; all 0 if the compiler reports none
  std::optional<Occupancy> occupancy;  ///< theoretical, with its limiter; nullopt if registers are not known

  /// Shared memory of a block, static and dynamic.
  std::int64_t shared_bytes() const { return resources.static_shared_bytes + shape.shared_bytes; }
};

/// The launches of \p configuration on \p size in order. Precondition: why_invalid() finds no reason, and \p image has
/// its launch_expressions().
std::vector<LaunchDetail> launch_details(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const Configuration& configuration, const Image& image);

/// The worse of the two values for each member.
Resources worst(const Resources& a, const Resources& b);

/// The worst resources of the timed launch_details(). If the compiler reports none (that of the host backend), all
/// members are 0.
Resources compiled_resources(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                             const Configuration& configuration, const Image& image);

}  // namespace tuner
