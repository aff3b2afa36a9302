#pragma once
/// Verifies and measures configurations of one kernel and problem on a backend. Owns the buffers, the expected outputs,
/// and the usual clock and times. It does not compile (see expressions.hpp), so that compiling can happen elsewhere and
/// earlier.

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/output_values.hpp>

namespace tuner {

/// The current work of a runner.
enum class Phase { fill, prepare, load, verify, measure };
std::string_view text(Phase phase);

/// Whether \p outcome shows a race: the kernel was right with one order of its threads, and failed with another.
bool depends_on_order(const Outcome& outcome);

/// Called before each step that could hang, with the time that it may take. If the next call comes much later than
/// \p limit_s, a supervisor may conclude that the step hangs.
using PhaseListener = std::function<void(Phase phase, double limit_s)>;

class Runner {
 public:
  /// Allocates and fills the buffers of \p size, which is completed, and of each `verify` problem. \p backend and \p
  /// spec must outlive the runner. Throws Error if there is no room or a buffer's count cannot be evaluated.
  Runner(Backend& backend, const KernelSpec& spec, const ProblemSize& size, MeasureOptions options = {},
         PhaseListener listener = {});
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Computes the expected outputs. Call it once, before evaluate(). \p image has the reference_expressions(); null if
  /// there are none. Throws Error if the reference fails, because then nothing could
  /// be verified.
  void prepare(const Image* image);

  /// Verifies and measures one configuration. Collects its metrics if options() ask for those of all. \p image has at
  /// least its launch_expressions(). \p best_ns: the median of the best so far; 0: none. A kernel's failure is an
  /// outcome, not an exception.
  Trial evaluate(const Configuration& configuration, const Image& image, double best_ns);

  struct Finalist {
    Configuration configuration;
    const Image* image = nullptr;
  };
  /// Measures \p finalists again, side by side. In each of finalist_rounds rounds, finalist_samples samples are taken
  /// of each. Their order changes between rounds, so that drift affects all alike. No round begins after \p seconds,
  /// except the first three. All trials get the same Trial::round. The finalists must have been verified by evaluate()
  /// (of this or another runner). They are verified again after their last sample; then their metrics are collected.
  std::vector<Trial> remeasure(std::span<const Finalist> finalists,
                               double seconds = std::numeric_limits<double>::infinity());

  /// Launches one configuration exactly once on the problem, with fresh inputs and poisoned outputs. Returns the
  /// failure that stopped it, if any.
  std::optional<Outcome> launch(const Configuration& configuration, const Image& image);
  /// Times the reference kernels on the problem. If their results change from run to run, the expected outputs change
  /// too. Precondition: prepare() was given their image.
  Outcome measure_reference();
  /// Copies of the outputs of the problem after the last run.
  HostBuffers outputs() const;
  /// Copies of the expected outputs; empty without a reference. Elements that are not compared are those of outputs().
  HostBuffers expected() const;
  /// Copies of the reference's results.
  HostBuffers reference_outputs() const;

  /// Whether it can run more configurations (Backend::usable()).
  bool usable() const;
  const MeasureOptions& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tuner
