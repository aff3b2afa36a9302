#pragma once
/// Compiles, verifies and times one configuration, and gives all facts about it. Runs in this process, so that a
/// profiler sees the kernel, and the kernel's output appears.

#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/measure/compiled_resources.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/numbers/output_values.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {

struct KernelSpec;

/// `<<<(64, 512), (32, 8), 4096>>>`: grid, block, and the bytes of dynamic shared memory if there is any.
std::string text(const LaunchShape& shape);

class SingleRun {
 public:
  /// Compiles \p configuration, and the reference if options.verify is set. \p backend and \p spec must outlive this
  /// object; \p size is completed. Throws Error if the configuration cannot run on the device or does not compile, or
  /// if the reference fails.
  SingleRun(Backend& backend, const KernelSpec& spec, const ProblemSize& size, Configuration configuration,
            const MeasureOptions& options = {});

  const std::vector<LaunchDetail>& launches() const { return launches_; }

  /// Verifies and times it like a trial of a tuning.
  Trial measure();
  /// Launches it exactly once, on fresh inputs, without warm-up or flush. Returns its failure, if any; does not compare
  /// its results.
  std::optional<Outcome> launch() { return runner_.launch(configuration_, image_); }

  /// The outputs after the last run.
  HostBuffers outputs() const { return runner_.outputs(); }
  /// The expected outputs; empty without verification.
  HostBuffers expected() const { return runner_.expected(); }

 private:
  Configuration configuration_;
  Runner runner_;
  Image image_;
  std::vector<LaunchDetail> launches_;
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
