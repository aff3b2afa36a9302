#pragma once
/// Tunes one kernel for one problem from beginning to end, with an evaluator, a store and a session. The command line
/// and the library's tune() call it.

#include <tuner/backend/backend.hpp>
#include <tuner/effort.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/session/wisdom/wisdom.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {

/// Where configurations run.
enum class Isolation {
  none,     ///< in threads of this process: a kernel that faults ends the session; on the host, also the process
  process,  ///< in worker processes: a kernel that faults or hangs costs one trial
};

/// Whether a stored answer comes with the trials of its tunings.
enum class StoredTrials { none, if_known, required };

struct TuningOptions {
  SessionOptions session;
  /// Says when to stop, in place of SessionOptions::budget. answer_or_tune() replaces it with its limits; tune_kernel()
  /// looks at the budget only.
  std::optional<Effort> effort;
  MeasureOptions measure;  ///< its metrics may name sets
  Isolation isolation = Isolation::process;
  /// Before a GPU's winner is named best, run it on the host backend in several orders of its threads, or under
  /// compute-sanitizer if the host cannot run it (WinnerCheck). Needs a host compiler, and up to half a minute of the
  /// wall time.
  bool host_check = false;
  /// Start from results of other problems and devices (earlier_results()); without any, from SessionOptions::estimate.
  bool learn_from_elsewhere = true;
  bool decides = true;  ///< calls are served with the winner; false when only part of a space is tuned.
  bool resume = true;   ///< continue an interrupted session.
  StoredTrials stored_trials = StoredTrials::none;
  std::string origin = "tune";  ///< who measures, for the database.
  /// Ordinals of other devices of this machine with the same key, which also run configurations. Needs
  /// Isolation::process.
  std::vector<int> more_devices;
  std::vector<RemoteHost> hosts;    ///< other machines that take part; needs Isolation::process
  std::size_t compile_workers = 0;  ///< IsolatedOptions::compile_workers, or threads that compile in this process
};

/// The metrics of \p options, including that of the objective, that \p device can measure. Sets are replaced by their
/// members. Calls \p warn for the others, once for each reason. Throws Error with the reason when the objective's
/// metric cannot be measured.
std::vector<std::string> measurable_metrics(const TuningOptions& options, const Device& device,
                                            const std::function<void(std::string_view)>& warn);

/// Throws Error when \p device cannot show the time of a kernel in \p use.
void require_use(Use use, const Device& device);

/// Throws Error, with advice, when \p spec has no reference.
void require_reference(const KernelSpec& spec);

/// Options of the workers that measure on \p device, with the images of earlier tunings. \p warn: as
/// IsolatedOptions::warn.
IsolatedOptions workers_on(const Device& device, const std::function<void(std::string_view)>& warn = {});

/// Collects measurable_metrics(). The wall time begins here. \p backend: used for Isolation::none; null: opened when
/// needed. Throws Error in these cases. The kernel has no reference, or the reference fails. No configuration is valid.
/// The worker program is missing. \p spec was described in code, so worker processes cannot read it.
SessionResult tune_kernel(const KernelSpec& spec, const ProblemSize& size, const Device& device, Wisdom& wisdom,
                          const TuningOptions& options, Observer* observer, Backend* backend = nullptr);

/// The start of a search: the trials of the nearest tuning of \p spec, from all its sessions. If no tuning has
/// trials, the best configurations of other problems and devices. Nearness depends on the device, the choices, the
/// ratio of the sizes, and the source. Another backend is never near. The same problem on the same device is left out,
/// because it is resumed instead, unless the driver or the compiler has changed. nullopt when nothing is known.
std::optional<Prior> earlier_results(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size,
                                     const Device& device, const Objective& objective);

/// The settings of measuring, as stored with every session. Trials are resumed only under equal conditions.
std::string conditions_text(const TuningOptions& options, const KernelSpec& spec);

}  // namespace tuner
