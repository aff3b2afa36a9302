#pragma once
/// The resources of a compiled configuration. Before it is loaded: registers and spills from the compiler's log, and
/// the occupancy computed from them. Afterwards: also whether the device can launch it.

#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

/// One launch of a configuration and its resources.
struct LaunchDetail {
  std::string expression;  ///< C++ name expression: `sumMatrix2D<float, 32, 8>`
  LaunchShape shape;
  bool timed = true;
  Resources resources;  ///< with occupancy; all 0 if the compiler reports none
  /// Theoretical, of single blocks, with its limiter; nullopt if registers are not known.
  std::optional<Occupancy> occupancy;
  std::optional<std::int64_t> clusters = {};  ///< that the device holds at once; nullopt: not known, or it has none

  /// Shared memory of a block, static and dynamic.
  std::int64_t shared_bytes() const { return resources.static_shared_bytes + shape.shared_bytes; }
};

/// The launches of \p configuration on \p size in order. Precondition: why_invalid() finds no reason, and \p image has
/// its launch_expressions().
std::vector<LaunchDetail> launch_details(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const Configuration& configuration, const Image& image);

/// Adds to \p launches of \p image what only the device knows: the clusters that are compiled into kernels, and how
/// many clusters it holds at once. Resources::occupancy then counts these clusters. Adds nothing if \p image cannot be
/// loaded.
void count_clusters(std::vector<LaunchDetail>& launches, const Image& image, Backend& backend);

/// A launch of a function that is loaded.
struct LoadedLaunch {
  LaunchShape shape;  ///< with the cluster that is compiled into the function
  Resources resources;
  std::int64_t resident = 0;           ///< how many of its blocks the device holds at once; 0: not known
  std::optional<std::string> why_not;  ///< why a device with these limits cannot launch it
};

/// \p expression: the function's name, for messages. Precondition: \p shape meets violated_limit().
LoadedLaunch loaded_launch(const Module& module, std::size_t function, const std::string& expression,
                           const LaunchShape& shape, const DeviceLimits& limits);

/// The resources that stand for a configuration of several launches: those of the main launch, which has the most
/// threads, with the most bytes that any launch spills.
class MainResources {
 public:
  void add(const LaunchShape& shape, const Resources& resources);
  const std::optional<Resources>& get() const { return main_; }  ///< not set before add()

 private:
  std::optional<Resources> main_;
  std::int64_t threads_ = -1;
};

/// The MainResources of the timed launch_details(). If the compiler reports none (that of the host backend), all
/// members are 0.
Resources compiled_resources(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                             const Configuration& configuration, const Image& image);

}  // namespace tuner
