#pragma once
/// Evaluates configurations by workers: a pool that compiles, and one worker for each of the session's devices that
/// runs. Workers are processes (program `tuner-worker`): if a kernel or compiler crashes or hangs, its process is
/// replaced, one trial fails, and nothing else is lost. This process then never touches a device. Workers can also be
/// threads of this process, which start faster, for small jobs and kernels that exist only in code. A crash then ends
/// this process.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/result/evaluator.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

struct KernelSpec;

namespace worker {
class EvaluationLoop;
class WorkerLink;
}  // namespace worker

/// The worker program is missing, is of another release, or cannot open the device however often it is started.
class WorkerError : public Error {
 public:
  using Error::Error;
};

/// The device itself cannot be used: another worker would not help.
class DeviceLostError : public WorkerError {
 public:
  using WorkerError::WorkerError;
};

/// A cache of compiled images: two functions of its owner. An empty function means: no cache. Called from several
/// threads; must not throw (a broken cache is a miss).
struct ImageStore {
  /// The image of exactly \p request from the compiler with \p identity (Compiler::identity()).
  std::function<std::optional<Image>(const CompileRequest& request, std::string_view identity)> get;
  /// Stores \p image for \p request. After a compile of a batch, \p image has more functions than requested.
  std::function<void(const CompileRequest& request, std::string_view identity, const Image& image)> put;
};

/// Another machine that takes part in a session with its own worker processes.
struct RemoteHost {
  std::string name;
  std::vector<int> devices;  ///< its ordinals, a lane for each
  std::size_t compile_workers = 0;
  /// Starts a worker there. Called on the evaluator's own thread. Throws WorkerError.
  std::function<std::unique_ptr<worker::WorkerLink>()> start;
};

struct IsolatedOptions {
  /// If set, workers are threads of this process and use this backend, which must outlive the evaluator. No other
  /// device can take part. After the backend has become unusable, each trial is a LaunchError that says so.
  Backend* here = nullptr;
  std::string backend = "cuda";  ///< "cuda" or "host"
  /// The compute capabilities to compile for. If empty, each compile worker asks its driver, which delays the run
  /// worker by 0.2 s.
  std::vector<int> gpus = {};
  /// Ordinals of devices of one key, a lane for each. Empty: the device of known_device, or 0.
  std::vector<int> devices = {};
  std::filesystem::path program = {};  ///< empty: find_worker_program()
  std::size_t compile_workers = 0;     ///< here; 0: one for each core, at most 64 processes or 16 threads

  std::size_t batch = 0;          ///< configurations in one compile at most; 0: compile_batch()'s
  bool search_learns = true;      ///< compile_batch()'s
  double compile_timeout_s = 60;  ///< of one compile; then its process is killed. Threads have no limit
  double grace_s = 1;             ///< after a process's own limit has passed, before it is killed

  /// If set, workers are killed at the end without waiting for them. If empty, they are asked to end.
  std::optional<std::chrono::milliseconds> grace = {};
  /// The device, if it is known already. Compiling then starts before the run worker has opened it.
  std::optional<Device> known_device = {};
  std::vector<RemoteHost> hosts = {};  ///< besides this one
  ImageStore images = {};
  /// Receives the warnings of workers, a warning when a lane is given up while others continue, and once the text that
  /// a kernel prints; nothing twice. Called on the evaluator's own thread. May be empty.
  std::function<void(std::string_view)> warn = {};

  /// Compile workers on all hosts.
  std::size_t all_compile_workers() const {
    std::size_t all = compile_workers;
    for (const RemoteHost& host : hosts) all += host.compile_workers;
    return all;
  }
  std::size_t lanes() const {
    std::size_t all = devices.size();
    for (const RemoteHost& host : hosts) all += host.devices.size();
    return all;
  }
};

class IsolatedEvaluator : public Evaluator {
 public:
  /// Whether \p spec can be sent to a worker: its source is a kernel file that parses to a kernel of the same name with
  /// the same parameters. Kernels that are described in code cannot be sent.
  static bool can_isolate(const KernelSpec& spec);

  /// Starts the workers and returns at once; the device is opened meanwhile. \p spec must outlive it. Throws
  /// WorkerError when the program is missing, and Error when \p spec cannot be sent to a process.
  IsolatedEvaluator(const KernelSpec& spec, const ProblemSize& size, MeasureOptions measure = {},
                    IsolatedOptions options = {});
  ~IsolatedEvaluator() override;

  /// The device that the first run worker has opened; waits for it. Throws WorkerError when it cannot be opened.
  const Device& device();

  std::size_t capacity() const override;
  void submit(const Configuration& configuration, double best_ns) override;
  std::size_t in_flight() const override { return in_flight_; }
  /// Throws WorkerError when workers cannot be kept alive, and Error when the kernel's reference fails.
  std::optional<Event> next_event(std::chrono::duration<double> patience) override;
  void prefer(std::span<const Configuration> order) override;
  void withdraw(std::span<const Configuration> configurations) override;
  void abandon(std::span<const Configuration> configurations) override;
  void hurry() override;
  std::vector<Trial> remeasure(std::span<const Configuration> finalists,
                               double seconds = std::numeric_limits<double>::infinity(),
                               const std::function<bool()>& stop = {},
                               Placement placement = Placement::present) override;
  double seconds_to_start() const override;

  /// False after the trial that made IsolatedOptions::here unusable. Processes are replaced.
  bool usable() const override { return usable_; }
  std::vector<std::string> remarks() const override;
  std::vector<LaneReport> lanes() const override;

 private:
  std::unique_ptr<worker::EvaluationLoop> loop_;
  std::size_t in_flight_ = 0;
  bool usable_ = true;
};

/// $TUNER_WORKER, else `tuner-worker` beside the running program, else in bin or libexec/tuner of each folder that
/// tuner may be installed to (cache::installation_prefixes). Throws WorkerError that names the places.
std::filesystem::path find_worker_program();

}  // namespace tuner
