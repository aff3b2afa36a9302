#pragma once
/// Evaluates configurations in this process: some threads compile ahead, and the caller's thread runs. For backends
/// whose faults are harmless, and for small jobs (tune on first use). If a kernel may fault or hang, use worker
/// processes (worker/isolated_evaluator.hpp).

#include <cstddef>
#include <memory>

#include <tuner/backend/backend.hpp>
#include <tuner/core/evaluator.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/host_reference.hpp>
#include <tuner/measure/image_store.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

struct InProcessOptions {
  std::size_t compile_threads = 0;  ///< 0: one for each core, at most 16
  std::size_t batch = 0;            ///< configurations in one compile; 0: compile_batch() decides
  bool search_learns = true;        ///< for compile_batch()
  ImageStore images;
  HostReference reference;
};

class InProcessEvaluator : public Evaluator {
 public:
  /// \p backend and \p spec must outlive it. Allocates the problem's buffers and starts compiling the reference.
  InProcessEvaluator(Backend& backend, const KernelSpec& spec, const ProblemSize& size, MeasureOptions measure = {},
                     InProcessOptions options = {});
  ~InProcessEvaluator() override;

  std::size_t capacity() const override;
  /// After the backend has become unusable, each trial is a LaunchError that says so.
  void submit(const Configuration& configuration, double best_ns) override;
  std::size_t in_flight() const override;
  /// Throws Error when the reference fails.
  std::optional<Event> next_event(std::chrono::duration<double> patience) override;
  void prefer(std::span<const Configuration> order) override;
  void withdraw(std::span<const Configuration> configurations) override;
  /// MeasureOptions::finalist_rounds rounds, or fewer if \p seconds are too short.
  std::vector<Trial> remeasure(std::span<const Configuration> finalists,
                               double seconds = std::numeric_limits<double>::infinity()) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tuner
