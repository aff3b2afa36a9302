#pragma once
/// The event loop of IsolatedEvaluator: takes each configuration from submit() to its trial, through the image store,
/// the compile pool and the run lanes. Does not know how workers are kept alive. Runs on its own thread, because worker
/// processes die with the thread that started them. Internal to the worker room.

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/image_shelf.hpp>
#include <tuner/worker/compile_pool.hpp>
#include <tuner/worker/finals.hpp>
#include <tuner/worker/image_thread.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/mailbox.hpp>
#include <tuner/worker/run_lanes.hpp>

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

  // Called in the loop, as commands of the mailbox.
  void submit(Configuration configuration, double best_ns);
  void prefer(std::span<const Configuration> order) { lanes_.prefer(order); }
  void withdraw(std::span<const Configuration> configurations);
  /// Measures \p finalists again. Their trials come together, as News::finalists.
  void remeasure(std::vector<Configuration> finalists, double seconds);

 private:
  void run();
  void work();
  RunLanes make_lanes();
  std::map<std::string, std::string> carried_files() const;
  CompilePool make_pool();

  void device_known(const Device& device);
  void route_waiting();
  void look_up(CompileJob job);
  void compile(CompileJob job);
  void compiled(CompileJob job, CompiledImage result, bool from_store);
  void reference_compiled(CompileJob job, CompiledImage result);
  void finished(int lane, RunJob job, std::vector<Trial> trials);
  void given_up(int lane, const std::string& reason, bool unusable);
  void finish(Configuration configuration, Outcome outcome, double compile_s);
  void tell(Event event);
  void run_finalists();
  void tell_finalists();
  void tell_of_lanes();

  const KernelSpec& spec_;
  const ProblemSize size_;
  const MeasureOptions measure_;
  const IsolatedOptions& options_;
  Mailbox& mailbox_;
  bool stopping_ = false;

  SessionTimes times_;
  std::vector<LaneReport> reports_;  // of the lanes
  RunLanes lanes_;
  CompilePool pool_;
  std::optional<Device> device_;
  std::optional<std::string> compiler_;
  std::deque<CompileJob> waiting_;     // until the device and the compiler are known
  std::set<Configuration> compiling_;  // submitted, and neither compiled nor withdrawn
  ImageShelf shelf_;
  Finals finals_;
  std::vector<int> finals_lanes_;  // that measure finalists now
  std::size_t reference_tries_ = 0;
  std::optional<ImageThread> images_;

  std::thread thread_;
};

}  // namespace tuner::worker
