#pragma once
/// Tunes one kernel for one problem from end to end: evaluator, store and session put together. What the command line
/// and the library's tune() call.

#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/measure/host_reference.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/session/tune_session.hpp>
#include <tuner/session/wisdom.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {

/// Where configurations run.
enum class Isolation {
  none,     ///< in this process: a kernel that faults ends the session
  process,  ///< in worker processes: a kernel that faults or hangs costs one trial
};

struct TuningOptions {
  SessionOptions session;
  MeasureOptions measure;  ///< its metrics may name sets
  Isolation isolation = Isolation::process;
  /// Run what a GPU is about to name best on the host backend too, in several orders of its threads (HostCheck). Takes
  /// a host compiler, and up to half a minute behind the wall time.
  bool host_check = false;
  bool learn_from_elsewhere = true;  ///< start from results of other problems and devices (earlier_results())
  bool decides = true;               ///< the winner becomes what calls are served with; false for part of a space
  bool resume = true;                ///< take over the trials of an interrupted session
  bool image_cache = true;           ///< keep compiled GPU images for later sessions
  std::string origin = "tune";       ///< who measures, for the database
  /// Ordinals of further devices of this machine with the same key, to run configurations side by side with the first;
  /// needs Isolation::process.
  std::vector<int> more_devices;
  std::vector<RemoteHost> hosts;    ///< other machines that take part; needs Isolation::process
  std::size_t compile_workers = 0;  ///< IsolatedOptions::compile_workers, or threads that compile in this process
  HostReference reference;          ///< expected outputs by a C++ function; needs Isolation::none
};

/// What can be measured of the metrics that \p options ask for on \p device, sets replaced by theirs, the objective's
/// own among them; \p observer (may be null) is warned of the others, once for each reason. Throws Error with the
/// reason when the objective's own cannot be.
std::vector<std::string> measurable_metrics(const TuningOptions& options, const Device& device, Observer* observer);

/// Collects measurable_metrics(). Throws Error when the kernel has no reference, or it fails, when nothing is valid,
/// the worker program is missing, or \p spec cannot travel to worker processes though it shall (it was described in
/// code). The wall time begins here. \p backend: used for Isolation::none; null: opened when needed.
SessionResult tune_kernel(const KernelSpec& spec, const ProblemSize& size, const Device& device, Wisdom& wisdom,
                          const TuningOptions& options, Observer* observer, Backend* backend = nullptr);

/// How measuring was set up, as it is stored with every session: trials are resumed only under equal conditions.
std::string conditions_text(const TuningOptions& options, const KernelSpec& spec);

}  // namespace tuner
