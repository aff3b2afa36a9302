#pragma once
/// The event loop of IsolatedEvaluator: takes each configuration from submit() to its trial, through the image store,
/// the compile pool and the run lanes. Does not know how workers are kept alive. Runs on its own thread, because worker
/// processes die with the thread that started them. The caller's thread posts commands and waits for news. The loop's
/// thread takes commands and reports news. A third thread talks to the image store. Internal to the worker room.

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/evaluator.hpp>
#include <tuner/worker/compile_pool.hpp>
#include <tuner/worker/finals.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/run_lanes.hpp>

namespace tuner::worker {

/// News that the loop has reported and the caller has not taken.
struct News {
  std::deque<Event> events;
  std::optional<std::vector<Trial>> finalists;
  std::optional<Device> device;      ///< reported once, and stays
  std::vector<std::string> remarks;  ///< Of the worker that was prepared last. They stay.
  double start_s = 0;                ///< The time that it took to start.
  std::vector<LaneReport> lanes;     ///< where there are several
  std::exception_ptr failure;        ///< the loop has ended: nothing more will come
};

/// All data that the caller and the event loop share. Thread-safe.
class Mailbox {
 public:
  /// Throws WorkerError when no event descriptor can be made.
  Mailbox() : wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_fd_ < 0) throw WorkerError(std::string("no event descriptor: ") + std::strerror(errno));
  }
  ~Mailbox() { ::close(wake_fd_); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  using Command = std::function<void()>;
  void post(Command command) {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    wake();
  }
  /// Makes wake_fd() readable. Allocates nothing.
  void wake() noexcept { (void)::eventfd_write(wake_fd_, 1); }
  /// Readable while there are commands.
  int wake_fd() const { return wake_fd_; }
  std::vector<Command> take_commands() {
    const std::lock_guard lock(mutex_);
    eventfd_t count = 0;
    (void)::eventfd_read(wake_fd_, &count);
    return std::exchange(commands_, {});
  }

  /// \p change: adds to the news.
  template <typename Change>
  void report(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change(news_);
    }
    changed_.notify_all();
  }
  /// Calls \p take with the news until it returns something that is true, and returns that. Returns its last answer
  /// when \p patience has passed. Throws the failure when the loop has ended and \p take returned nothing true.
  template <typename Take>
  auto wait(Take take, std::chrono::duration<double> patience = std::chrono::hours(24 * 365)) {
    std::unique_lock lock(mutex_);
    auto taken = take(news_);
    changed_.wait_for(lock, patience, [&] { return taken || (taken = take(news_)) || news_.failure; });
    if (!taken && news_.failure) std::rethrow_exception(news_.failure);
    return taken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Command> commands_;
  News news_;
  const int wake_fd_;
};

/// Runs tasks one after the other on its own thread, for the image store: a slow disk must not keep the device waiting.
/// The destructor waits until all queued tasks have run.
class ImageThread {
 public:
  ImageThread() : thread_([this](const std::stop_token& stopping) { work(stopping); }) {}

  /// \p first: run it before all tasks that wait, because someone waits for its answer.
  void post(std::function<void()> task, bool first) {
    {
      const std::lock_guard lock(mutex_);
      (first ? urgent_ : tasks_).push_back(std::move(task));
    }
    there_.notify_one();
  }

 private:
  void work(const std::stop_token& stopping) {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        there_.wait(lock, stopping, [this] { return !tasks_.empty() || !urgent_.empty(); });
        std::deque<std::function<void()>>& from = urgent_.empty() ? tasks_ : urgent_;
        if (from.empty()) return;
        task = std::move(from.front());
        from.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any there_;
  std::deque<std::function<void()>> tasks_, urgent_;
  std::jthread thread_;  // last, so that it ends before the members that it uses are destroyed
};

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
  void withdraw(std::span<const Configuration> configurations, Taken which);
  void hurry() { lanes_.hurry(); }
  /// Measures \p finalists again. Their trials come together, as News::finalists.
  void remeasure(std::vector<Configuration> finalists, double seconds, Placement placement);
  /// Ends remeasure() after the launches that run. If no trials were reported yet, News::finalists are none.
  void give_up_finalists();

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
  void report(Event event);
  void run_finalists();
  void report_lanes();

  // The thread uses all of them.
  const KernelSpec& spec_;
  const ProblemSize size_;
  const MeasureOptions measure_;
  const IsolatedOptions options_;
  Mailbox mailbox_;
  RunLanes lanes_;
  CompilePool pool_;
  std::optional<Device> device_;
  std::optional<std::string> compiler_;
  std::deque<CompileJob> waiting_;     // until begin()
  std::set<Configuration> compiling_;  // submitted, and neither compiled nor withdrawn
  bool is_first_ = true;               // nothing was submitted: the device waits for the first configuration
  Finals finals_;
  std::optional<ImageThread> images_;
  std::jthread thread_;
};

}  // namespace tuner::worker
