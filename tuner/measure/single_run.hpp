#pragma once
/// Compiles, verifies and times one configuration, and gives all facts about it. Runs in this process, so that a
/// profiler sees the kernel, and the kernel's output appears.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/occupancy.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/output_values.hpp>

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

/// The launches of \p configuration in order, with their resources from \p image. Precondition: why_invalid() finds no
/// reason.
std::vector<LaunchDetail> launch_details(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const Configuration& configuration, const Image& image);

/// `<<<(64, 512), (32, 8), 4096>>>`: grid, block, and the bytes of dynamic shared memory if there is any.
std::string text(const LaunchShape& shape);

class SingleRun {
 public:
  /// Compiles \p configuration, and the reference if options.verify is set. \p backend and \p spec must outlive this
  /// object; \p size is completed. Throws Error if the configuration cannot run on the device or does not compile, or
  /// if the reference fails.
  SingleRun(Backend& backend, const KernelSpec& spec, const ProblemSize& size, Configuration configuration,
            const MeasureOptions& options = {});
  ~SingleRun();
  SingleRun(const SingleRun&) = delete;
  SingleRun& operator=(const SingleRun&) = delete;

  const std::vector<LaunchDetail>& launches() const;

  /// Verifies and times it like a trial of a tuning.
  Trial measure();
  /// Launches it exactly once, on fresh inputs, without warm-up or flush. Returns its failure, if any; does not compare
  /// its results.
  std::optional<Outcome> launch();

  /// The outputs after the last run.
  HostBuffers outputs() const;
  /// The expected outputs; empty without verification.
  HostBuffers expected() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The result of running only the reference kernels.
struct ReferenceRun {
  Outcome outcome;  ///< their time
  HostBuffers outputs;
};
/// Compiles, runs and times the reference of \p spec on \p backend, with the same inputs as configurations. Throws
/// Error if there is no reference or it fails.
ReferenceRun run_reference(Backend& backend, const KernelSpec& spec, const ProblemSize& size,
                           const MeasureOptions& options = {});

}  // namespace tuner
