#pragma once
/// Proves configurations of one (kernel, problem) correct and measures them on a backend. Owns the buffers, the
/// expected outputs and the knowledge of what is normal here (clock, times). Runs only: compiling is left to others
/// (expressions.hpp), so that it can happen elsewhere and earlier.

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
#include <tuner/measure/host_reference.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/output_values.hpp>

namespace tuner {

/// What a runner is busy with.
enum class Phase { prepare, load, verify, measure };
std::string_view text(Phase phase);

/// Whether \p outcome is one that another order of a kernel's threads gave after this order gave what is right: a race.
bool depends_on_order(const Outcome& outcome);

/// Told before each step that could hang: what it is, and how long it may take. A supervisor that hears nothing for
/// much longer than \p limit_s may conclude that the step hangs.
using PhaseListener = std::function<void(Phase phase, double limit_s)>;

class Runner {
 public:
  /// Allocates and fills the buffers of \p size and of every `verify` problem. \p backend and \p spec must outlive
  /// the runner; \p size is completed. \p reference: a C++ function that replaces the spec's reference kernels.
  /// Throws Error when there is no room or a buffer's count cannot be evaluated.
  Runner(Backend& backend, const KernelSpec& spec, const ProblemSize& size, MeasureOptions options = {},
         HostReference reference = {});
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void set_phase_listener(PhaseListener listener);

  /// Computes the expected outputs. \p image holds reference_expressions(); null when there are none (a C++
  /// reference, or nothing to compare with). Must be called once, before evaluate(). Throws Error when the
  /// reference itself fails: nothing could be verified.
  void prepare(const Image* image);

  /// Verifies and measures one configuration, and collects its metrics where options() ask for them of all. \p image
  /// holds at least launch_expressions() of it. \p best_ns: median of the best so far, 0 when there is none. Never
  /// throws for what a kernel does.
  Trial evaluate(const Configuration& configuration, const Image& image, double best_ns);

  struct Finalist {
    Configuration configuration;
    const Image* image = nullptr;
  };
  /// Measures \p finalists again, interleaved: in each of finalist_rounds rounds each of them gives finalist_samples
  /// samples, in an order that changes by round, so that drift meets all alike: all trials have the same Trial::round.
  /// After \p seconds no round begins, but three there are. They must have been verified by evaluate() (of this or
  /// another runner), and are verified again behind their last sample. Then their metrics are collected.
  std::vector<Trial> remeasure(std::span<const Finalist> finalists,
                               double seconds = std::numeric_limits<double>::infinity());

  /// Launches one configuration exactly once on the problem, with fresh inputs and poisoned outputs. What stopped it,
  /// if anything did. Throws nothing for what a kernel does.
  std::optional<Outcome> launch(const Configuration& configuration, const Image& image);
  /// Times the reference kernels on the problem. What is expected holds afterwards only where they leave the same
  /// however often they run. Precondition: prepare() was given their image.
  Outcome measure_reference();
  /// Copies of what the last run left in the outputs of the problem, and of what the reference wants there (empty
  /// without one): where it wants nothing, because that is not compared, what is there.
  HostBuffers outputs() const;
  HostBuffers expected() const;
  /// Copies of what the reference computed.
  HostBuffers reference_outputs() const;

  /// Whether further configurations can run here (Backend::usable()).
  bool usable() const;
  const MeasureOptions& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tuner
