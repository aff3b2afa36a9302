#pragma once
/// The event loop of IsolatedEvaluator: takes each configuration from submit() to its trial, through the image store,
/// the compile pool and the run lanes. Does not know how workers are kept alive. Runs on its own thread, because worker
/// processes die with the thread that started them. Internal to the worker room.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/worker/compile_pool.hpp>
#include <tuner/worker/finals.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/mailbox.hpp>
#include <tuner/worker/run_lanes.hpp>

namespace tuner::worker {

class EvaluationLoop {
 public:
  /// Starts the thread, which starts the workers. \p spec must outlive it; \p size is complete.
  EvaluationLoop(const KernelSpec& spec, ProblemSize size, MeasureOptions measure, IsolatedOptions options);
  ~EvaluationLoop();
  EvaluationLoop(const EvaluationLoop&) = delete;
  EvaluationLoop& operator=(const EvaluationLoop&) = delete;

  const IsolatedOptions& options() const { return options_; }
  Mailbox& mailbox() { return mailbox_; }

  /// Calls \p member, one of the functions below, in the loop.
  template <typename... Parameters, typename... Arguments>
  void post(void (EvaluationLoop::*member)(Parameters...), Arguments... arguments) {
    mailbox_.post([this, member, arguments...] { (this->*member)(arguments...); });
  }
  void submit(Configuration configuration, double best_ns);
  void prefer(std::span<const Configuration> order) { lanes_.prefer(order); }
  void withdraw(std::span<const Configuration> configurations);
  /// Measures \p finalists again. Their trials come together, as News::finalists.
  void remeasure(std::vector<Configuration> finalists, double seconds);

 private:
  void run(const std::stop_token& stopping);
  void work(const std::stop_token& stopping);
  RunLanes make_lanes();
  std::map<std::string, std::string> carried_files() const;
  CompilePool make_pool();
  bool has_reference_program() const { return measure_.verify && spec_.has_reference_program(); }

  void device_known(const Device& device);
  void compiler_known(const std::string& name);
  void begin();
  void route_waiting();
  void look_up(CompileJob job);
  void compile(CompileJob job);
  void compiled(CompileJob job, CompiledImage result, bool from_store);
  void reference_compiled(CompileJob job, CompiledImage result);
  void finished(int lane, RunJob job, std::vector<Trial> trials);
  void given_up(int lane);
  void finish(Configuration configuration, Outcome outcome, double compile_s);
  void tell(Event event);
  void run_finalists();
  void tell_of_lanes();

  // The thread uses all of them.
  const KernelSpec& spec_;
  const ProblemSize size_;
  const MeasureOptions measure_;
  const IsolatedOptions options_;
  Mailbox mailbox_;
  SessionTimes times_;
  RunLanes lanes_;
  CompilePool pool_;
  std::optional<Device> device_;
  std::optional<std::string> compiler_;
  std::deque<CompileJob> waiting_;     // until begin()
  std::set<Configuration> compiling_;  // submitted, and neither compiled nor withdrawn
  Finals finals_;
  std::optional<ImageThread> images_;
  std::jthread thread_;
};

}  // namespace tuner::worker
