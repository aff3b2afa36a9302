#pragma once
/// One configuration by itself: compiled, verified, timed, and everything about it told. Works in this process, so that
/// a profiler sees the kernel and what the kernel prints is seen.

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

/// One launch of a configuration and what it needs.
struct LaunchDetail {
  std::string expression;  ///< C++ name expression: `sumMatrix2D<float, 32, 8>`
  LaunchShape shape;
  bool timed = true;
  Resources resources;                 ///< with occupancy; all 0 where the compiler does not tell
  std::optional<Occupancy> occupancy;  ///< theoretical, with its limiter; absent where registers are not known

  /// Of a block, static and dynamic.
  std::int64_t shared_bytes() const { return resources.static_shared_bytes + shape.shared_bytes; }
};

/// The launches of \p configuration in order, with what \p image says of each. Precondition: why_invalid() has nothing
/// against it.
std::vector<LaunchDetail> launch_details(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const Configuration& configuration, const Image& image);

/// `<<<(64, 512), (32, 8), 4096>>>`: grid, block and, where there is any, dynamic shared memory in bytes.
std::string text(const LaunchShape& shape);

class SingleRun {
 public:
  /// Compiles \p configuration, and the reference where it is verified. \p backend and \p spec must outlive it; \p size
  /// is completed. Throws Error with the reason when it cannot run on the device or does not compile, or when the
  /// reference fails.
  SingleRun(Backend& backend, const KernelSpec& spec, const ProblemSize& size, Configuration configuration,
            const MeasureOptions& options = {});
  ~SingleRun();
  SingleRun(const SingleRun&) = delete;
  SingleRun& operator=(const SingleRun&) = delete;

  const std::vector<LaunchDetail>& launches() const;

  /// Verifies and times it, as a trial of a tuning is.
  Trial measure();
  /// Launches it exactly once, on fresh inputs: no warm-up, no flush, nothing else between. What it did wrong, if
  /// anything; its results are not compared.
  std::optional<Outcome> launch();

  /// What the last run left in the outputs.
  HostBuffers outputs() const;
  /// What the reference says of them; empty without verification.
  HostBuffers expected() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The reference kernels by themselves.
struct ReferenceRun {
  Outcome outcome;  ///< their time
  HostBuffers outputs;
};
/// Compiles, runs and times the reference of \p spec on \p backend, on the inputs that configurations get there and
/// elsewhere. Throws Error when there is none, or it fails.
ReferenceRun run_reference(Backend& backend, const KernelSpec& spec, const ProblemSize& size,
                           const MeasureOptions& options = {});

}  // namespace tuner
