#pragma once
/// The event loop behind IsolatedEvaluator: what becomes of a configuration between submit() and its trial. Knows the
/// way of each (image store, compile pool, run lane, finalists), not how workers are kept alive. Runs on a thread of
/// its own, because worker processes die with the thread that started them. Internal to the worker room.

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/image_shelf.hpp>
#include <tuner/worker/compile_pool.hpp>
#include <tuner/worker/image_thread.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/mailbox.hpp>
#include <tuner/worker/run_lane.hpp>

namespace tuner::worker {

class EvaluationLoop {
 public:
  /// Starts the thread, which starts the workers. \p spec, \p options and \p mailbox must outlive it; \p size and
  /// \p options are complete.
  EvaluationLoop(const KernelSpec& spec, ProblemSize size, MeasureOptions measure, const IsolatedOptions& options,
                 Mailbox& mailbox);
  ~EvaluationLoop();
  EvaluationLoop(const EvaluationLoop&) = delete;
  EvaluationLoop& operator=(const EvaluationLoop&) = delete;

  // For the caller's thread: each returns at once, what it asks for is done in the loop.
  void submit(const Configuration& configuration, double best_ns);
  void prefer(std::vector<Configuration> order);
  void withdraw(std::vector<Configuration> configurations);
  /// The exception: waits until all were measured again.
  std::vector<Trial> remeasure(std::vector<Configuration> finalists, double seconds);

 private:
  void run();
  void start_lane();
  void start_pool();
  void work();
  void quit_gracefully();

  void device_known(const Device& device, const std::string& architecture);
  void set_device(const Device& device, std::string architecture);
  void compiler_known(const std::string& identity);
  void route_waiting();
  CompileRequest request_for(const Configuration& configuration) const;
  void look_up(CompileJob job);
  void compile(CompileJob job);
  void compiled(CompileJob job, CompiledImage result, bool from_store);
  void finished(RunJob job, Trial trial);
  void emit(Trial trial);

  void start_finalists(std::vector<Configuration> configurations, double seconds);
  void finalist_ready(std::size_t index, CompiledImage result);
  void run_finalists();
  void remeasured(std::vector<Trial> trials);

  const KernelSpec& spec_;
  const ProblemSize size_;
  const MeasureOptions measure_;
  const IsolatedOptions& options_;
  const bool needs_reference_;
  Mailbox& mailbox_;

  SessionTimes times_;
  std::optional<CompilePool> pool_;
  std::optional<RunLane> lane_;
  std::optional<Device> device_;
  std::string architecture_;
  std::optional<std::string> compiler_;
  std::deque<CompileJob> waiting_;     // for the device and the compiler to be known
  std::set<Configuration> compiling_;  // submitted, and neither compiled nor withdrawn
  ImageShelf shelf_;
  std::vector<Configuration> finalists_;
  double finalist_s_ = 0;
  std::vector<std::optional<CompiledImage>> finalist_images_;
  std::size_t reference_tries_ = 0;
  std::optional<ImageThread> images_;

  std::thread thread_;
};

}  // namespace tuner::worker
