#pragma once
/// The launches of a kernel with every name replaced by its value.

#include <string>
#include <vector>

#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/kernel/compile_values.hpp>

namespace tuner {

class Bindings;
class Configuration;
struct KernelSpec;
struct LaunchSpec;
struct ProblemSize;

/// One launch with every name replaced by its value.
struct ResolvedLaunch {
  const LaunchSpec* spec = nullptr;
  std::string expression;  ///< C++ name expression: `sumMatrix2D<float, 32, 8>`
  LaunchShape shape;
  bool timed = true;
};

/// The launches of (\p spec, \p size, \p configuration), in order, without those whose `when` is false. Throws
/// EvaluationError only if why_invalid() reports the configuration; so do the functions below.
std::vector<ResolvedLaunch> resolve_launches(const KernelSpec& spec, const ProblemSize& size,
                                             const DeviceLimits& limits, const Configuration& configuration);
/// The launches before each run, in order, without those whose `when` is false. They are the same for every
/// configuration.
std::vector<ResolvedLaunch> resolve_prepare(const KernelSpec& spec, const ProblemSize& size,
                                            const DeviceLimits& limits);

/// \p bindings: bindings() of a configuration. Throws EvaluationError.
LaunchShape shape_of(const LaunchSpec& launch, const Bindings& bindings);

// Private to this folder.

/// \p launches in order, without those whose `when` is false. \p values replace names in C++ names.
std::vector<ResolvedLaunch> resolve(const std::vector<LaunchSpec>& launches, const Bindings& bindings,
                                    const Replacements& values);
/// \p launch's C++ name with every name and every computed part replaced by its value.
std::string resolved_name(const LaunchSpec& launch, const Bindings& bindings, const Replacements& values);

}  // namespace tuner
